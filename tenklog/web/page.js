// Plays games through: reads the moments of each from the page, and shows one at a time. Texts only ever become text.
"use strict";
(() => {
  const SVG = document.querySelector(".defs").namespaceURI;
  const players = [];
  let latest = null; // the player that the arrow keys outside of any belong to

  const make = (tag, kind, text) => {
    const made = document.createElement(tag);
    if (kind) made.className = kind;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const die = (face, kept) => {
    const made = document.createElementNS(SVG, "svg");
    made.setAttribute("class", kept ? "die kept" : "die");
    const use = document.createElementNS(SVG, "use");
    use.setAttribute("href", `#d${face}`);
    made.append(use);
    return made;
  };
  const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(Math.round(value));
  const minus = (value) => String(value).replace("-", "−");

  class Player {
    constructor(section) {
      this.section = section;
      this.article = section.closest("article");
      this.data = JSON.parse(document.getElementById(`${this.article.id}-data`).textContent);
      this.slider = section.querySelector("input");
      this.slider.max = this.data.moments.length - 1;
      this.place = 0;
      this.timer = null;
      this.find = (name) => section.querySelector(name);
      this.totals();
      this.ticks();
      this.cursors();
      this.slider.addEventListener("input", () => { this.stop(); this.show(Number(this.slider.value)); });
      section.addEventListener("click", (event) => this.clicked(event));
      section.addEventListener("keydown", (event) => this.pressed(event));
      section.addEventListener("focusin", () => { latest = this; });
      section.hidden = false;
      this.show(0);
    }

    totals() {
      const list = this.find(".totals");
      this.rows = this.data.players.map((player, seat) => {
        const row = make("li");
        const name = make("bdi", "name", player);
        const bar = make("span", "bar");
        const filled = make("span");
        filled.style.background = `var(--p${(seat % 10) + 1})`;
        bar.append(filled);
        const total = make("span", "total");
        row.append(name, total, bar);
        list.append(row);
        return { row, total, filled };
      });
    }

    ticks() {
      const signs = { worst: ["✕", "bad"], lucky: ["▲", "good"], unlucky: ["▼", "bad"] };
      this.data.moments.forEach((moment, place) => {
        for (const mark of (moment.marks || []).filter((one) => one in signs)) {
          const tick = make("span", signs[mark][1], signs[mark][0]);
          tick.style.left = `${(100 * place) / Math.max(1, this.data.moments.length - 1)}%`;
          this.find(".ticks").append(tick);
        }
      });
    }

    // A line in the chart of the race where the step is.
    cursors() {
      this.lines = [...this.article.querySelectorAll(`#${this.article.id}-race ~ figure svg[data-plot]`)].map((svg) => {
        const [left, top, width, height] = svg.dataset.plot.split(" ").map(Number);
        const line = document.createElementNS(SVG, "line");
        line.setAttribute("class", "cursor");
        line.setAttribute("y1", top);
        line.setAttribute("y2", top + height);
        svg.append(line);
        return { line, left, width };
      });
      this.rounds = Math.max(1, ...this.data.turns.map((turn) => turn.round));
    }

    show(place) {
      const last = this.data.moments.length - 1;
      this.place = Math.min(Math.max(place, 0), last);
      const moment = this.data.moments[this.place];
      const turn = moment.turn === undefined ? null : this.data.turns[moment.turn];
      const who = moment.seat === undefined ? "" : this.data.players[moment.seat];
      const where = turn ? `Round ${turn.round} · turn ${moment.turn + 1} of ${this.data.turns.length}` : "Between turns";
      this.find(".where").textContent = this.place === 0 ? "The start" : where;
      const dice = (moment.roll || []).map((face, number) => die(face, (moment.kept || []).includes(number)));
      const named = (moment.roll || []).length ? `Dice ${moment.roll.join(" ")}` : "No dice on the table";
      this.find(".throw").replaceChildren(...dice, make("span", "sr", named));
      this.find(".told").textContent = moment.kind === "note" ? `Note: ${moment.text}` : moment.text;
      this.find(".notes").replaceChildren(...this.chips(moment));
      this.find("[data-stake]").textContent = { bust: "Lost", bank: "Banked" }[moment.kind] || "At stake";
      this.find("[data-points]").textContent = minus(moment.points || 0);
      const aside = make("span", "dice");
      aside.append(...(moment.aside || []).map((face) => die(face, true)));
      this.find("[data-aside]").replaceChildren(aside, make("span", "sr", (moment.aside || []).join(" ") || "nothing"));
      this.find(".aside").hidden = !(moment.aside || []).length;
      this.rows.forEach(({ row, total, filled }, seat) => {
        const points = moment.totals[seat];
        row.hidden = points === undefined;
        row.className = moment.seat === seat ? "now" : "";
        if (moment.seat === seat) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
        total.textContent = minus(points === undefined ? "" : points);
        filled.style.width = `${Math.max(0, (100 * (points || 0)) / this.data.top)}%`;
      });
      const round = this.round();
      for (const { line, left, width } of this.lines) {
        const x = left + (width * round) / this.rounds;
        line.setAttribute("x1", x);
        line.setAttribute("x2", x);
      }
      this.slider.value = this.place;
      this.slider.setAttribute("aria-valuetext", `Step ${this.place + 1} of ${last + 1}${who ? `, ${who}` : ""}: ${moment.text}`);
      this.find(".count").textContent = `step ${this.place + 1} of ${last + 1}`;
      for (const [go, end] of [["back", 0], ["turn-back", 0], ["on", last], ["turn-on", last]]) {
        const button = this.find(`[data-go="${go}"]`);
        // A disabled button would lose the focus, so it only says that it does nothing now.
        button.setAttribute("aria-disabled", String(this.place === end));
      }
    }

    // The round that is over, and how far the running one is.
    round() {
      let turn = null;
      for (let place = this.place; place >= 0 && turn === null; place -= 1) {
        const found = this.data.moments[place].turn;
        if (found !== undefined) turn = found;
      }
      if (turn === null) return 0;
      const { round } = this.data.turns[turn];
      const same = this.data.turns.map((one, number) => [one, number]).filter(([one]) => one.round === round);
      const before = same.filter(([, number]) => number < turn).length;
      const next = this.data.turns[turn + 1];
      const over = this.place >= (next ? next.first : this.data.moments.length) - 1;
      return round - 1 + (before + (over ? 1 : 0.5)) / same.length;
    }

    chips(moment) {
      const found = [];
      const marks = moment.marks || [];
      if (marks.includes("blunder")) found.push(make("span", "chip bad", `✕ blunder ${signed(moment.loss)}; better: ${moment.best}`));
      if (moment.luck !== undefined) {
        const word = marks.includes("lucky") ? "▲ luckiest roll" : marks.includes("unlucky") ? "▼ unluckiest roll" : "luck";
        const kind = Math.abs(moment.luck) < 50 ? "chip" : moment.luck > 0 ? "chip good" : "chip bad";
        found.push(make("span", kind, `${word} ${signed(moment.luck)}`));
      }
      if (moment.loss !== undefined && moment.loss <= -0.5 && !marks.includes("blunder")) {
        found.push(make("span", "chip", `decision ${signed(moment.loss)}${moment.best ? `; better: ${moment.best}` : ""}`));
      }
      return found;
    }

    go(where) {
      const { moments, turns } = this.data;
      const starts = turns.map((turn) => turn.first);
      const to = {
        back: this.place - 1,
        on: this.place + 1,
        "turn-on": starts.find((first) => first > this.place) ?? moments.length - 1,
        "turn-back": starts.filter((first) => first < this.place).pop() ?? 0,
        first: 0,
        last: moments.length - 1,
      }[where];
      this.stop();
      this.show(to);
      if (document.activeElement !== this.slider) this.say(); // the slider speaks for itself
    }

    say() {
      const { text } = this.data.moments[this.place];
      this.find("[data-live]").textContent = `${this.find(".where").textContent}. ${text}`;
    }

    play() {
      if (this.timer !== null) { this.stop(); return; }
      if (this.place === this.data.moments.length - 1) this.show(0);
      this.find('[data-go="play"]').textContent = "Pause";
      this.timer = setInterval(() => {
        this.show(this.place + 1);
        if (this.place === this.data.moments.length - 1) this.stop();
      }, 1400);
    }

    stop() {
      if (this.timer === null) return;
      clearInterval(this.timer);
      this.timer = null;
      this.find('[data-go="play"]').textContent = "Play";
    }

    clicked(event) {
      const button = event.target.closest("[data-go]");
      if (!button) return;
      latest = this;
      if (button.dataset.go === "play") this.play(); else this.go(button.dataset.go);
    }

    pressed(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const moves = { ArrowLeft: "back", ArrowRight: "on", ArrowUp: "turn-back", ArrowDown: "turn-on", Home: "first", End: "last" };
      if (!(event.key in moves)) return;
      event.preventDefault();
      this.go(moves[event.key]);
    }

    jump(seq) {
      let place = this.data.moments.findIndex((moment) => moment.seq >= seq);
      if (place < 0) place = this.data.moments.length - 1;
      latest = this;
      this.stop();
      this.show(place);
      this.section.scrollIntoView({ block: "start" });
      this.slider.focus({ preventScroll: true });
    }
  }

  for (const section of document.querySelectorAll("section.player")) players.push(new Player(section));
  latest = players[0] || null;
  for (const player of players) {
    for (const button of player.article.querySelectorAll(".jump")) {
      button.hidden = false;
      button.addEventListener("click", () => player.jump(Number(button.dataset.seq)));
    }
  }
  // Left and right step also where nothing has the focus; up and down scroll there, as everywhere.
  document.addEventListener("keydown", (event) => {
    if (latest && event.target === document.body && ["ArrowLeft", "ArrowRight"].includes(event.key)) latest.pressed(event);
  });
  // Paper has no buttons to open what is closed; but the many turns and the legends are only printed when somebody opened them.
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details:not([open], .every, .means)")) { part.open = true; opened.push(part); }
  });
  addEventListener("afterprint", () => { while (opened.length) opened.pop().open = false; });
})();
