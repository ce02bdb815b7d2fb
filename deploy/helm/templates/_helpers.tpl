{{- define "graphmem.labels" -}}
app.kubernetes.io/name: graphmem
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "graphmem.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Settings that the container, its checks and its volumes share. */}}
{{- define "graphmem.container" -}}
image: {{ include "graphmem.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  {{- range $name, $value := .Values.settings }}
  - name: GRAPHMEM_{{ upper $name }}
    value: {{ $value | quote }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .Values.secret }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
{{- end }}

{{- define "graphmem.pod" -}}
automountServiceAccountToken: false
# They would be settings that do not exist, such as GRAPHMEM_PORT, in a release named graphmem.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  # Others could read the file of keys after a change of all modes, and it would be refused.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
initContainers:
  - name: migrate
    args: [admin, migrate]
    {{- include "graphmem.container" . | nindent 4 }}
volumes:
  - name: data
    persistentVolumeClaim:
      claimName: {{ .Values.persistence.existingClaim | default .Release.Name }}
  - name: tmp
    emptyDir: {}
{{- end }}
