// Keeps a page as it is on the server: an event says that something happened, then the page is
// asked for again and the parts that differ are put in place. So the server alone writes markup.
import { refreshTimes } from "./times.js";

const EVENTS = "/v1/events";
const CALM = 1000; // between two looks, however much happens
const SLOW = 30000; // a look without any event: time alone changes things
const RETRY = [1000, 2000, 5000, 10000];

let source = null;
let failures = 0;
let timer = 0;
let wanted = false;
let looking = false;
let lastLook = performance.now();

export function follow() {
  connect();
  setInterval(() => look(), SLOW);
  window.addEventListener("online", () => { failures = 0; connect(); });
  window.addEventListener("offline", () => say("offline", "no network"));
  document.addEventListener("visibilitychange", () => { if (!document.hidden && wanted) soon(); });
}

function connect() {
  source?.close();
  clearTimeout(timer);
  source = new EventSource(EVENTS);
  source.onopen = () => {
    const back = failures > 0;
    failures = 0;
    say("live", "live");
    if (back) soon();
  };
  source.onerror = () => {
    failures += 1;
    say(failures > 1 ? "offline" : "waiting", failures > 1 ? "no connection" : "connecting");
    if (source.readyState === EventSource.CLOSED) {
      timer = setTimeout(connect, RETRY[Math.min(failures - 1, RETRY.length - 1)]);
    }
  };
  for (const kind of ["journal", "activity", "reset"]) {
    source.addEventListener(kind, soon);
  }
}

function soon() {
  wanted = true;
  if (document.hidden || looking) return;
  const rest = Math.max(0, CALM - (performance.now() - lastLook));
  setTimeout(() => { if (wanted) look(); }, rest);
}

async function look() {
  if (looking || document.hidden) return;
  looking = true;
  wanted = false;
  lastLook = performance.now();
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" }, cache: "no-store" });
    if (answer.status === 401) return void location.reload();
    if (answer.ok) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    say("offline", "no connection");
  } finally {
    looking = false;
    if (wanted) soon();
  }
}

function replace(fresh) {
  const changed = [];
  for (const part of document.querySelectorAll("[data-part]")) {
    const next = fresh.querySelector(`[data-part="${CSS.escape(part.dataset.part)}"]`);
    if (!next || same(part, next) || isInUse(part)) continue;
    const before = numbers(part);
    part.replaceWith(document.adoptNode(next));
    mark(next, before);
    changed.push(next);
  }
  document.body.dataset.now = fresh.body.dataset.now;
  for (const counted of document.querySelectorAll(".pages a")) {
    const next = fresh.querySelector(`.pages a[href="${CSS.escape(counted.getAttribute("href"))}"]`);
    if (next && next.innerHTML !== counted.innerHTML) counted.innerHTML = next.innerHTML;
  }
  refreshTimes();
  const head = changed.find((part) => part.dataset.part === "head");
  if (head) document.getElementById("news").textContent = head.textContent.trim().replace(/\s+/g, " ");
}

// Times run by themselves and are no news; what is unfolded stays unfolded.
function same(part, next) {
  return stripped(part) === stripped(next);
}

function stripped(part) {
  const copy = part.cloneNode(true);
  for (const each of copy.querySelectorAll("time[data-relative]")) each.textContent = "";
  for (const each of copy.querySelectorAll("details[open]")) each.removeAttribute("open");
  for (const each of copy.querySelectorAll(".changed")) each.classList.remove("changed");
  return copy.innerHTML.replaceAll(' class=""', "");
}

// Nobody loses the place where they are typing or choosing, or what they have unfolded.
function isInUse(part) {
  return part.contains(document.activeElement) || part.querySelector("details[open]") !== null;
}

function numbers(part) {
  const found = new Map();
  for (const each of part.querySelectorAll("[id]")) found.set(each.id, each.textContent);
  return found;
}

function mark(part, before) {
  for (const each of part.querySelectorAll("[id]")) {
    if (before.has(each.id) && before.get(each.id) !== each.textContent) each.classList.add("changed");
  }
}

function say(state, words) {
  const place = document.getElementById("connection");
  if (place.dataset.state === state) return;
  place.dataset.state = state;
  place.textContent = words;
  const banner = document.getElementById("offline");
  banner.hidden = state !== "offline";
  banner.textContent = banner.hidden ? "" : `No connection since ${clock()}. What you see is as of then; it goes on by itself.`;
}

function clock() {
  return new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
