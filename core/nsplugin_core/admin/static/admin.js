"use strict";

// Without this script every page works by links and forms. With it a page follows the core: its changing parts (data-live) are
// fetched anew and merged into what is shown, so that focus, ticks and a selection of text stay where they are.

const PATIENCE_MS = 10_000;
const ANNOUNCE_EVERY_MS = 30_000;

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.dataset.key || node.id : "");

function merge(shown, fresh) {
  if (shown.nodeType !== Node.ELEMENT_NODE) {
    if (shown.nodeValue !== fresh.nodeValue) shown.nodeValue = fresh.nodeValue;
    return;
  }
  if (shown.isEqualNode(fresh)) return;
  mergeAttributes(shown, fresh);
  mergeChildren(shown, fresh);
}

function mergeAttributes(shown, fresh) {
  for (const { name } of [...shown.attributes]) if (!fresh.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
}

function mergeChildren(shown, fresh) {
  const wanted = new Set([...fresh.children].map(keyOf));
  for (const child of [...shown.children]) if (keyOf(child) && !wanted.has(keyOf(child))) child.remove();
  const keyed = new Map([...shown.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let place = shown.firstChild;
  for (const child of [...fresh.childNodes]) {
    const own = counterpart(child, place, keyed);
    if (!own) {
      shown.insertBefore(document.importNode(child, true), place);
      continue;
    }
    if (own === place) place = place.nextSibling;
    else shown.insertBefore(own, place);
    merge(own, child);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

function counterpart(fresh, place, keyed) {
  const key = keyOf(fresh);
  const own = key ? keyed.get(key) : place && !keyOf(place) ? place : null;
  return own && own.nodeName === fresh.nodeName ? own : null;
}

// Ticking all letters of a page at once.

function followTicks() {
  const form = document.querySelector("[data-letters]");
  if (!form) return;
  const label = form.querySelector("[data-all]");
  const all = label.querySelector("input");
  const ticks = [...form.querySelectorAll("input[name=task]")];
  const ticked = ticks.filter((tick) => tick.checked).length;
  label.hidden = false;
  all.checked = ticked > 0 && ticked === ticks.length;
  all.indeterminate = ticked > 0 && ticked < ticks.length;
}

document.addEventListener("change", (event) => {
  const form = event.target.closest("[data-letters]");
  if (!form) return;
  if (event.target.closest("[data-all]"))
    for (const tick of form.querySelectorAll("input[name=task]")) tick.checked = event.target.checked;
  followTicks();
});

// Following the core.

class Follower {
  constructor(bar) {
    this.everyMs = Number(bar.dataset.refresh) * 1000;
    this.state = bar.querySelector("[data-refresh-state]");
    this.toggle = bar.querySelector("[data-refresh-toggle]");
    this.announcer = document.getElementById("announcer");
    this.said = this.sayings(document);
    this.announced = 0;
    this.paused = sessionStorage.getItem("paused") === "yes";
    this.over = false;
    this.toggle.addEventListener("click", () => this.pause(!this.paused));
    document.addEventListener("visibilitychange", () => this.schedule(0));
    bar.hidden = false;
    this.show();
    this.schedule(this.everyMs);
  }

  pause(paused) {
    this.paused = paused;
    sessionStorage.setItem("paused", paused ? "yes" : "no");
    this.show();
    this.schedule(0);
  }

  show(problem = "") {
    this.state.textContent = problem || (this.paused ? "Paused" : "Live");
    this.state.dataset.refreshState = problem ? "problem" : this.paused ? "paused" : "live";
    this.toggle.textContent = this.paused ? "Resume updates" : "Pause updates";
    this.toggle.hidden = this.over;
  }

  schedule(delay) {
    clearTimeout(this.timer);
    if (!this.paused && !this.over && !document.hidden) this.timer = setTimeout(() => this.refresh(), delay);
  }

  async refresh() {
    const round = (this.round = Symbol("round"));
    const problem = await this.fetched(round);
    if (round !== this.round) return;
    if (problem && problem !== this.problem) this.say(problem);
    this.problem = problem;
    this.show(problem);
    this.schedule(this.everyMs);
  }

  async fetched(round) {
    const address = new URL(location.href);
    address.searchParams.delete("payload");
    try {
      const answer = await fetch(address, {
        headers: { "X-Nsplugin-Fragment": "1" },
        cache: "no-store",
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await answer.text();
      if (answer.status >= 500) return "The core does not answer well; trying again";
      this.over = !answer.ok;
      if (!answer.ok) return answer.status === 404 ? "This is not here any more" : "Load the page again";
      if (round === this.round && !this.paused) this.take(new DOMParser().parseFromString(text, "text/html"));
      return "";
    } catch {
      return "The core does not answer; trying again";
    }
  }

  take(fresh) {
    const focused = document.activeElement;
    const section = focused?.closest("section");
    for (const part of fresh.querySelectorAll("[data-live]")) {
      const shown = document.getElementById(part.id);
      if (shown && !isInUse(shown)) merge(shown, part);
    }
    followTicks();
    if (focused && !focused.isConnected && section?.isConnected) section.focus({ preventScroll: true });
    const said = this.sayings(fresh);
    if (said !== this.said && Date.now() - this.announced > ANNOUNCE_EVERY_MS) this.say(said);
    this.said = said;
  }

  sayings(page) {
    return [...page.querySelectorAll("[data-says]")].map((part) => part.dataset.says).join("; ");
  }

  say(text) {
    this.announced = Date.now();
    this.announcer.textContent = text;
  }
}

function isInUse(part) {
  const selection = getSelection();
  const reading = !selection.isCollapsed && selection.rangeCount > 0 && selection.getRangeAt(0).intersectsNode(part);
  return reading || part.querySelector("select:focus") !== null;
}

const bar = document.querySelector("[data-refresh]");
followTicks();
if (bar && document.querySelector("[data-live]")) new Follower(bar);
