// Keeps "3 min ago" true while a page stays open. The words are those of the server.
const SPANS = [["d", 86400], ["h", 3600], ["min", 60]];
const EVERY = 20000;

function words(seconds) {
  if (Math.abs(seconds) < 60) return "just now";
  const length = Math.abs(seconds);
  const [unit, whole] = SPANS.find(([, size]) => length >= size);
  const span = `${Math.floor(length / whole)} ${unit}`;
  return seconds < 0 ? `in ${span}` : `${span} ago`;
}

// The clocks of this machine and of the server may differ: only what has passed here is added.
const opened = performance.now();
const shown = new WeakMap();

function ageOf(element, server) {
  if (!shown.has(element)) shown.set(element, { server, since: performance.now() });
  const at = shown.get(element);
  const passed = (performance.now() - at.since) / 1000;
  return at.server + passed - Date.parse(element.dateTime) / 1000;
}

export function refreshTimes(server = Number(document.body.dataset.now)) {
  for (const element of document.querySelectorAll("time[data-relative]")) {
    element.textContent = words(ageOf(element, server + (performance.now() - opened) / 1000));
  }
}

export function keepTimes() {
  setInterval(refreshTimes, EVERY);
}
