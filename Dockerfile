# The HTTP API, MCP, the worker and the command line of graphmem, for a Neo4j elsewhere:
#   just wheel        # or just release: the wheel in dist/ is installed
#   docker build --tag graphmem .
#   docker run --env GRAPHMEM_URI --env GRAPHMEM_PASSWORD --publish 127.0.0.1:8766:8766 graphmem
# All packages are checked by their hashes; pin the base image by its digest when you publish.
ARG PYTHON=python:3.13-slim
FROM ${PYTHON} AS build
WORKDIR /build
COPY deploy/requirements.txt ./
RUN python -m venv /opt/graphmem \
    && /opt/graphmem/bin/pip install --no-cache-dir --no-deps --require-hashes --requirement requirements.txt
COPY dist/graphmem-*.whl ./
RUN /opt/graphmem/bin/pip install --no-cache-dir --no-deps ./*.whl

FROM ${PYTHON}
RUN useradd --system --uid 10001 --user-group --home-dir /data --create-home graphmem
COPY --from=build /opt/graphmem /opt/graphmem
ENV PATH=/opt/graphmem/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    GRAPHMEM_HOME=/data/home \
    GRAPHMEM_CACHE=/data/cache \
    GRAPHMEM_SERVE_KEYS=/data/keys.json
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8766
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8766/health/live', timeout=4)"]
ENTRYPOINT ["graphmem"]
CMD ["serve", "--host", "0.0.0.0"]
