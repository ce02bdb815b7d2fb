// Every page works without this file: it adds sliders for dates, shows times in the reader's zone
// and opens one-time links.
"use strict";

const DAY = 86400000;

for (const slider of document.querySelectorAll("input[type=range][data-for]")) {
  const date = document.getElementById(slider.dataset.for);
  const first = Date.parse(slider.dataset.first);
  const last = Date.parse(slider.dataset.last);
  const days = Math.round((last - first) / DAY);
  if (days < 1) continue;
  const place = () => Math.round((Date.parse(date.value) - first) / DAY);
  slider.min = 0;
  slider.max = days;
  slider.value = place();
  slider.hidden = false;
  slider.setAttribute("aria-valuetext", date.value);
  slider.addEventListener("input", () => {
    date.value = new Date(first + slider.value * DAY).toISOString().slice(0, 10);
    slider.setAttribute("aria-valuetext", date.value);
  });
  slider.addEventListener("change", () => date.form.requestSubmit());
  date.addEventListener("input", () => { slider.value = place(); });
}

const zone = document.getElementById("zone");
for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (isNaN(at)) continue;
  time.title = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  time.textContent = "minute" in time.dataset
    ? at.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })
    : at.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}
if (zone) zone.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone;

for (const form of document.querySelectorAll("form[data-submit]")) form.requestSubmit();

for (const form of document.querySelectorAll("form[method=post]")) {
  form.addEventListener("submit", (event) => {
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
}
