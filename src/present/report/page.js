/*
 * page.js - draws the report from the JSON beside it.
 *
 * Everything in the data is untrusted: it becomes text nodes and attributes of SVG and canvas
 * coordinates, never markup. Plots are made when they come near the screen.
 */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const now = data.recording;
  const targets = now.subjects.filter((subject) => subject.owner === 0);
  const plots = [];
  const redraws = [];
  const FAR = 3;
  const byteSteps = Array.from({ length: 30 }, (_, power) => 65536 * 2 ** power);
  const timeSteps = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800];
  let span = null; // what is zoomed into, seconds; null: all

  /* ---- small things */

  function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value === true) node.setAttribute(key, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return node;
  }
  const section = (id) => document.getElementById(id);

  function bytes(value, signed) {
    if (value === null || value === undefined) return "\u2013";
    if (value === 0) return "0";
    const size = Math.abs(value);
    const sign = value < 0 ? "\u2212" : signed && value > 0 ? "+" : "";
    if (size >= 1073741824) return sign + (size / 1073741824).toFixed(size >= 107374182400 ? 0 : 2) + " GiB";
    if (size >= 1048576) return sign + (size / 1048576).toFixed(size >= 104857600 ? 0 : 1) + " MiB";
    return sign + Math.round(size / 1024) + " KiB";
  }

  function duration(ms) {
    if (ms > 0 && ms < 1000) return Math.round(ms) + " ms";
    let seconds = Math.round(ms / 1000);
    const parts = [];
    for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]]) {
      if (seconds >= length || (unit === "s" && parts.length === 0)) {
        parts.push(Math.floor(seconds / length) + " " + unit);
        seconds %= length;
      }
    }
    return parts.slice(0, 2).join(" ");
  }

  const two = (number) => String(number).padStart(2, "0");
  function moment(ms, day) {
    const date = new Date(ms);
    const clock = two(date.getHours()) + ":" + two(date.getMinutes()) + ":" + two(date.getSeconds());
    return day ? date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " + clock : clock;
  }
  const longSpan = now.to_ms - now.from_ms > 20 * 3600 * 1000;
  const count = (number, word) => number.toLocaleString("en") + " " + word + (number === 1 ? "" : "s");
  const colour = (id) => getComputedStyle(root).getPropertyValue("--" + id).trim() || "#888888";

  /* Differences back to values: times in seconds, sizes in bytes. */
  function undo(differences, unit) {
    let sum = 0;
    return differences.map((difference) => {
      if (difference === null) return null;
      sum += difference;
      return sum * unit;
    });
  }
  function unpack(plot) {
    if (!plot.unpacked) {
      plot.unpacked = {
        times: undo(plot.times, 0.001),
        series: plot.series.map((series) => ({ ...series, values: undo(series.values, 1024) })),
      };
    }
    return plot.unpacked;
  }
  const plotOf = (subject, id) => subject.plots.find((plot) => plot.id === id);
  function totals(subject) {
    const plot = plotOf(subject, "kernel");
    if (!plot) return { times: [], values: [] };
    const { times, series } = unpack(plot);
    const stack = series.filter((one) => one.role === "stack" && one.id !== "swap");
    return {
      times,
      values: times.map((_, i) => {
        const known = stack.map((one) => one.values[i]).filter((value) => value !== null);
        return known.length ? known.reduce((a, b) => a + b, 0) : null;
      }),
    };
  }
  /* A target that was named by its pid says what it is, too. */
  function targetName(subject) {
    const member = /^\d+$/.test(subject.name) && now.subjects.find((other) => other.owner === subject.id && other.pid === Number(subject.name));
    return member ? member.name + " " + subject.name : subject.name;
  }
  const label = (subject) => (subject.owner === 0 ? targetName(subject) : subject.name + " " + subject.pid);

  /* ---- plots */

  /* Each area stands on those below it that are shown. */
  function stacked(plot, shown) {
    const { times, series } = unpack(plot);
    const columns = [times];
    let below = times.map(() => 0);
    for (const one of series) {
      if (one.role !== "stack") {
        columns.push(one.values);
      } else if (!shown[one.id]) {
        columns.push(times.map(() => null));
      } else {
        below = below.map((base, i) => (one.values[i] === null ? (base || null) : (base || 0) + one.values[i]));
        const gone = times.map((_, i) => series.every((any) => any.values[i] === null));
        columns.push(below.map((value, i) => (gone[i] ? null : value)));
        below = below.map((value) => value || 0);
      }
    }
    return columns;
  }

  function seriesOf(one, shown, previous) {
    const stroke = colour(one.id);
    return {
      label: one.title,
      show: shown[one.id],
      stroke,
      width: one.role === "stack" ? 1 : 2,
      dash: one.role === "limit" ? [8, 5] : undefined,
      fill: one.role === "stack" && previous < 0 ? stroke + "cc" : undefined,
      /* A line through one point has no length. */
      points: { show: one.values.filter((value) => value !== null).length === 1, size: 8, fill: stroke },
      spanGaps: false,
    };
  }

  function drawMarks(chart, marks) {
    const context = chart.ctx;
    const { left, top, width, height } = chart.bbox;
    context.save();
    context.beginPath();
    context.rect(left, top, width, height);
    context.clip();
    for (const mark of marks) {
      const x = Math.round(chart.valToPos(mark.at_ms / 1000, "x", true));
      context.strokeStyle = context.fillStyle = colour(mark.severity || "soft");
      context.lineWidth = devicePixelRatio;
      context.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
      context.beginPath();
      context.moveTo(x, top);
      context.lineTo(x, top + height);
      context.stroke();
      const size = 5 * devicePixelRatio;
      context.beginPath();
      context.moveTo(x - size, top);
      context.lineTo(x + size, top);
      context.lineTo(x, top + 2 * size);
      context.fill();
    }
    context.restore();
  }

  function setSpan(wanted, from) {
    span = wanted;
    for (const plot of plots) {
      if (plot !== from && plot.chart) plot.zoom();
    }
  }

  class Plot {
    constructor(subject, plot, marks) {
      this.subject = subject;
      this.plot = plot;
      this.marks = marks;
      this.shown = Object.fromEntries(unpack(plot).series.map((one) => [one.id, !this.isFar(one)]));
      this.chart = null;
      this.at = null;
      this.node = this.build();
      plots.push(this);
    }

    build() {
      const title = label(this.subject) + ": " + this.plot.title;
      this.box = el("div", { class: "plot", tabindex: 0, role: "application", "aria-label": title + ". Arrow keys move the reading, plus and minus zoom, 0 shows all." });
      this.reading = el("p", { class: "reading" });
      this.live = el("span", { "aria-live": "polite" });
      this.reading.append(this.live);
      this.legend = el("div", { class: "legend", role: "group", "aria-label": "Series of " + title });
      this.keys = {};
      for (const one of unpack(this.plot).series) {
        const value = el("b", {});
        const swatch = el("i", { class: one.role === "stack" ? "" : one.role });
        const key = el("button", { type: "button", class: "key", "aria-pressed": "true", "data-series": one.id, onclick: () => this.toggle(one.id) }, swatch, one.title, value);
        this.keys[one.id] = { key, value, swatch };
        this.legend.append(key);
      }
      const table = el("details", { class: "data", ontoggle: () => this.fillTable(table) }, el("summary", {}, "Data as a table"));
      this.box.addEventListener("keydown", (event) => this.pressed(event));
      this.paintKeys();
      return el("figure", { "data-plot": this.plot.id, "aria-label": title },
        el("figcaption", {}, el("h3", {}, this.plot.title), el("span", { class: "soft" }, this.summary())),
        this.box, this.reading, this.legend, table);
    }

    /* A line far above the areas would press them flat: shown when asked for. */
    isFar(one) {
      const known = one.values.filter((value) => value !== null);
      return one.role !== "stack" && known.length > 0 && Math.min(...known) > FAR * this.subject.peak;
    }

    summary() {
      const { times, series } = unpack(this.plot);
      if (this.plot.id === "layers") return count(times.length, "point");
      const all = totals(this.subject).values.filter((value) => value !== null);
      return all.length === 0 ? "" : "peak " + bytes(this.subject.peak) + ", at the end " + bytes(this.subject.last) + (this.subject.limit ? ", limit " + bytes(this.subject.limit) : "");
    }

    paintKeys() {
      for (const [id, { key, swatch }] of Object.entries(this.keys)) {
        swatch.style.background = colour(id);
        swatch.style.borderColor = colour(id);
        key.setAttribute("aria-pressed", String(this.shown[id]));
      }
    }

    draw() {
      if (this.chart) this.chart.destroy();
      const { series } = unpack(this.plot);
      const ink = colour("soft");
      const grid = { stroke: colour("grid"), width: 1 };
      const bands = [];
      let before = -1;
      const lines = series.map((one, i) => {
        const line = seriesOf(one, this.shown, before);
        if (one.role === "stack" && this.shown[one.id]) {
          if (before >= 0) bands.push({ series: [i + 1, before + 1], fill: colour(one.id) + "cc" });
          before = i;
        }
        return line;
      });
      const width = this.box.clientWidth || 600;
      this.chart = new uPlot({
        width,
        height: width < 500 ? 220 : 280,
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, sync: { key: "strata", setSeries: false }, points: { show: false } },
        scales: { x: { time: true }, y: { range: (u, low, high) => [Math.min(0, low || 0), high > 0 ? high * 1.06 : 1] } },
        axes: [
          { stroke: ink, grid, ticks: grid, font: "12px system-ui, sans-serif", space: 70, values: (u, splits) => splits.map((s) => axisTime(s, splits)) },
          { stroke: ink, grid, ticks: grid, font: "12px system-ui, sans-serif", size: 72, values: (u, splits) => splits.map((v) => bytes(v)), incrs: byteSteps },
        ],
        series: [{}, ...lines],
        bands,
        hooks: {
          draw: [(u) => drawMarks(u, this.marks)],
          setCursor: [(u) => this.read(u.cursor.idx, false)],
          setSelect: [(u) => {
            if (u.select.width > 8) {
              setSpan([u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")], null);
            }
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          }],
        },
      }, stacked(this.plot, this.shown), this.box);
      this.zoom();
      this.read(null, false);
    }

    zoom() {
      const [low, high] = span || [now.from_ms / 1000, Math.max(now.to_ms / 1000, now.from_ms / 1000 + 1)];
      this.chart.setScale("x", { min: low, max: high });
      this.box.dataset.from = low;
      this.box.dataset.to = high;
    }

    toggle(id) {
      this.shown[id] = !this.shown[id];
      this.paintKeys();
      if (this.chart) this.draw();
    }

    /* The values at a point of the data; spoken only when the keyboard moved there. */
    read(index, spoken) {
      const { times, series } = unpack(this.plot);
      this.at = index;
      const known = index !== null && index !== undefined && index < times.length;
      for (const one of series) {
        this.keys[one.id].value.textContent = known ? bytes(one.values[index], one.id === "residual") : "";
      }
      this.reading.dataset.at = known ? times[index] : "";
      const text = known ? moment(times[index] * 1000, longSpan) : "Move over the plot to read, drag to zoom.";
      if (spoken) {
        this.live.textContent = text + ": " + series.filter((one) => this.shown[one.id] && one.values[index] !== null)
          .map((one) => one.title + " " + bytes(one.values[index])).join(", ");
      } else {
        this.live.textContent = text;
      }
    }

    pressed(event) {
      const { times } = unpack(this.plot);
      const [low, high] = span || [now.from_ms / 1000, now.to_ms / 1000];
      const middle = this.at !== null && this.at !== undefined ? times[this.at] : (low + high) / 2;
      const half = (high - low) / 2;
      let index = this.at === null || this.at === undefined ? times.findIndex((time) => time >= low) : this.at;
      switch (event.key) {
        case "ArrowRight": index = Math.min(times.length - 1, index + (event.shiftKey ? 10 : 1)); break;
        case "ArrowLeft": index = Math.max(0, index - (event.shiftKey ? 10 : 1)); break;
        case "Home": index = 0; break;
        case "End": index = times.length - 1; break;
        case "+": case "=": setSpan([middle - half / 2, middle + half / 2], null); event.preventDefault(); return;
        case "-": setSpan(half * 4 >= now.to_ms / 1000 - now.from_ms / 1000 ? null : [middle - half * 2, middle + half * 2], null); event.preventDefault(); return;
        case "0": case "Escape": setSpan(null, null); return;
        default: return;
      }
      event.preventDefault();
      if (index >= 0 && this.chart) {
        this.chart.setCursor({ left: this.chart.valToPos(times[index], "x"), top: 10 }, false);
        this.read(index, true);
      }
    }

    fillTable(details) {
      if (!details.open || details.querySelector("table")) return;
      const { times, series } = unpack(this.plot);
      const step = Math.ceil(times.length / 200);
      const head = el("tr", {}, el("th", { scope: "col" }, "time"), ...series.map((one) => el("th", { scope: "col" }, one.title)));
      const body = el("tbody", {});
      for (let i = 0; i < times.length; i += step) {
        body.append(el("tr", {}, el("th", { scope: "row" }, moment(times[i] * 1000, longSpan)), ...series.map((one) => el("td", {}, bytes(one.values[i])))));
      }
      details.append(el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Data of " + label(this.subject) }, el("table", {}, el("caption", { class: "soft" }, step > 1 ? "every " + step + "th of " + count(times.length, "point") : count(times.length, "point")), el("thead", {}, head), body)));
    }
  }

  function axisTime(seconds, splits) {
    const step = splits.length > 1 ? splits[1] - splits[0] : 60;
    const date = new Date(seconds * 1000);
    const clock = two(date.getHours()) + ":" + two(date.getMinutes());
    if (step < 60) return clock + ":" + two(date.getSeconds());
    if (step >= 86400 || (longSpan && clock === "00:00")) return two(date.getMonth() + 1) + "-" + two(date.getDate());
    return clock;
  }

  /* Drawn when they come near the screen, and again when their width changes. */
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const plot = plots.find((one) => one.box === entry.target);
      if (plot && entry.isIntersecting && !plot.chart) plot.draw();
    }
  }, { rootMargin: "300px" });
  const resized = new ResizeObserver((entries) => {
    for (const entry of entries) {
      const plot = plots.find((one) => one.box === entry.target);
      const width = Math.floor(entry.contentRect.width);
      if (plot && plot.chart && width > 0 && width !== plot.chart.width) plot.chart.setSize({ width, height: width < 500 ? 220 : 280 });
    }
  });

  function addPlots(parent, subject) {
    const marks = now.marks.filter((mark) => mark.subject === 0 || mark.subject === subject.id || mark.subject === subject.owner);
    for (const plot of subject.plots) {
      const made = new Plot(subject, plot, marks);
      parent.append(made.node);
      near.observe(made.box);
      resized.observe(made.box);
    }
  }
  function dropPlots(parent) {
    for (let i = plots.length - 1; i >= 0; i--) {
      if (parent.contains(plots[i].box)) {
        near.unobserve(plots[i].box);
        resized.unobserve(plots[i].box);
        if (plots[i].chart) plots[i].chart.destroy();
        plots.splice(i, 1);
      }
    }
    parent.replaceChildren();
  }

  /* ---- sections */

  function verdictOf(subject) {
    const requests = subject.by_requests;
    return decides(requests) ? requests.verdict : subject.by_time.verdict;
  }
  function decides(requests) {
    return requests && requests.verdict !== "unclear" && requests.verdict !== "short";
  }
  /* A pace is told for the longest of these that was seen, and for no longer time. */
  const paces = [[3600, "an hour"], [60, "a minute"], [1, "a second"]];
  function paceUnit(...growths) {
    const span = Math.min(...growths.map((one) => one.span));
    return paces.find(([seconds]) => seconds <= span) || paces[paces.length - 1];
  }
  function pace(growth, seconds) {
    return growth.per_hour / 3600 * seconds;
  }
  function timePace(growth) {
    const [seconds, unit] = paceUnit(growth);
    return bytes(pace(growth, seconds), true) + " " + unit;
  }
  function paceOf(subject) {
    const requests = subject.by_requests;
    const words = [timePace(subject.by_time)];
    if (decides(requests)) words.push(bytes(requests.per_thousand, true) + " per 1,000 requests");
    return words.join(", ");
  }
  const verdictWords = { leak: "grows on", plateau: "has levelled off", slowing: "slows down", steady: "steady", shrinking: "shrinking", unclear: "unclear", short: "too short to tell" };

  function showSummary() {
    document.title = "strata: " + targets.map(targetName).join(", ");
    section("title").textContent = targets.map(targetName).join(", ") || "strata report";
    section("about").textContent = moment(now.from_ms, true) + " to " + moment(now.to_ms, true) + ", " + duration(now.to_ms - now.from_ms) + (now.host ? " on " + now.host : "");
    const cards = el("ul", { class: "cards" });
    const card = (value, text) => cards.append(el("li", { class: "card" }, el("b", {}, value), el("span", {}, text)));
    for (const subject of targets.slice(0, 3)) {
      card(bytes(subject.last), (targets.length > 1 ? targetName(subject) + ": " : "") + "resident at the end, peak " + bytes(subject.peak));
      card(verdictWords[verdictOf(subject)], (targets.length > 1 ? targetName(subject) + ": " : "") + paceOf(subject));
    }
    const members = now.subjects.length - targets.length;
    card(count(members, "process").replace("processs", "processes"), "at most " + Math.max(0, ...targets.map((subject) => subject.members_most)) + (targets.length > 1 ? " of one target" : "") + " at a time");
    const grave = now.findings.filter((finding) => finding.severity !== "info").length;
    card(String(grave), grave === 1 ? "finding that asks for action" : "findings that ask for action");
    section("summary").append(cards);
    const problems = [];
    if (now.ticks_lost) problems.push(count(now.ticks_lost, "tick") + " could not be stored");
    if (now.damaged_ticks) problems.push(count(now.damaged_ticks, "damaged tick") + " left out");
    if (problems.length) {
      section("problem").hidden = false;
      section("problem").textContent = problems.join("; ") + ".";
    }
    const cost = now.cpu_us && now.recorded_ms ? ", for " + (now.cpu_us / now.recorded_ms / 10).toFixed(2) + " % of one processor" : "";
    section("made").textContent = "Made by strata from " + now.file + ": " + count(now.ticks, "tick") + " every " + duration(now.every_ms) + ", " + count(now.captures, "capture") + cost + ", recorded by strata " + now.version + ". This page loads nothing. Plots by uPlot (MIT).";
  }

  function showFindings() {
    const parent = section("findings");
    if (now.findings.length === 0) {
      parent.append(el("p", { class: "soft" }, "None: no rule had anything to say."));
    }
    const whose = (finding) => {
      const target = targets.length > 1 && targets.find((one) => one.id === finding.subject);
      return target ? label(target) + ": " : "";
    };
    const box = (finding) => {
      const when = finding.count ? count(finding.count, "capture") + ", " + moment(finding.first_ms, longSpan) + " to " + moment(finding.last_ms, longSpan) : "over the whole span";
      return el("details", { class: "finding " + finding.severity, open: finding.severity === "critical" },
        el("summary", {}, el("span", { class: "tag " + finding.severity }, finding.severity), whose(finding), finding.summary),
        el("p", { class: "soft" }, el("code", {}, finding.rule), finding.pid ? " \u00b7 pid " + finding.pid : "", " \u00b7 " + when),
        finding.reasoning ? el("p", {}, finding.reasoning) : null,
        finding.predicted ? el("p", {}, "The change would give back " + bytes(finding.predicted.low) + " to " + bytes(finding.predicted.high) + ".") : null,
        el("pre", {}, finding.fix || finding.help));
    };
    const grave = now.findings.filter((finding) => finding.severity !== "info");
    const rest = now.findings.filter((finding) => finding.severity === "info");
    parent.append(...grave.slice(0, 6).map(box));
    if (grave.length > 6) {
      parent.append(el("details", { class: "data" }, el("summary", {}, count(grave.length - 6, "more finding") + " that ask" + (grave.length === 7 ? "s" : "") + " for action"), ...grave.slice(6, 300).map(box)));
    }
    if (rest.length > 0) {
      const notes = el("details", { class: "data", open: grave.length === 0 && rest.length <= 4 }, el("summary", {}, count(rest.length, "note")));
      notes.append(...rest.slice(0, 200).map(box));
      parent.append(notes);
    }
  }

  function showTargets() {
    for (const subject of targets) {
      const part = el("section", { "aria-label": targetName(subject) }, el("h2", {}, targetName(subject)));
      section("targets").append(part);
      addPlots(part, subject);
    }
  }

  function spark(subject) {
    const { times, values } = totals(subject);
    const high = subject.peak || 1;
    const wide = now.to_ms - now.from_ms || 1;
    const step = Math.max(1, Math.floor(times.length / 120));
    let path = "";
    for (let i = 0; i < times.length; i += step) {
      if (values[i] === null) continue;
      path += (path ? "L" : "M") + (((times[i] * 1000 - now.from_ms) / wide) * 128).toFixed(1) + " " + (25 - (values[i] / high) * 23).toFixed(1);
    }
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "spark");
    svg.setAttribute("viewBox", "0 0 128 26");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", path || "M0 0");
    line.setAttribute("fill", "none");
    line.setAttribute("stroke", "var(--anon)");
    line.setAttribute("stroke-width", "1.5");
    svg.append(line);
    return svg;
  }

  function openMember(subject, row) {
    const parent = section("detail");
    dropPlots(parent);
    document.querySelectorAll("tr.chosen").forEach((one) => one.classList.remove("chosen"));
    row.classList.add("chosen");
    const title = el("h2", { tabindex: -1 }, label(subject));
    parent.append(title, el("p", { class: "soft" }, subject.title + " \u00b7 " + moment(subject.first_ms, true) + " to " + moment(subject.last_ms, true) + (subject.ended ? ", ended" : "") + " \u00b7 " + paceOf(subject)));
    addPlots(parent, subject);
    title.focus();
  }

  function showMembers() {
    const members = now.subjects.filter((subject) => subject.owner !== 0);
    const parent = section("members");
    if (members.length === 0) {
      parent.hidden = true;
      return;
    }
    const columns = [
      ["name", "process", (one) => label(one), "text"],
      ["first", "first", (one) => one.first, "wide"],
      ["median", "median", (one) => one.median, "wide"],
      ["peak", "peak", (one) => one.peak, ""],
      ["last", "at the end", (one) => one.last, ""],
      ["pace", "pace", (one) => one.by_time.per_hour, "wide"],
      ["verdict", "growth", (one) => verdictOf(one), "text"],
    ];
    const body = el("tbody", {});
    const rows = members.map((subject) => {
      const row = el("tr", {});
      row.append(
        el("td", {}, el("button", { type: "button", class: "open", onclick: () => openMember(subject, row) }, label(subject)), subject.ended ? el("span", { class: "soft" }, " ended") : ""),
        el("td", { class: "wide" }, bytes(subject.first)), el("td", { class: "wide" }, bytes(subject.median)),
        el("td", {}, bytes(subject.peak)), el("td", {}, bytes(subject.last)),
        el("td", { class: "wide" }, timePace(subject.by_time)),
        el("td", { class: "text" }, el("span", { class: "tag " + verdictOf(subject) }, verdictWords[verdictOf(subject)])),
        el("td", { class: "wide" }, spark(subject)));
      return { subject, row };
    });
    const head = el("tr", {});
    const sortBy = (column, cell) => {
      const down = cell.getAttribute("aria-sort") !== "descending";
      head.querySelectorAll("th").forEach((one) => one.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => {
        const x = column[2](a.subject), y = column[2](b.subject);
        return (x < y ? 1 : x > y ? -1 : 0) * (down ? 1 : -1);
      });
      body.append(...rows.map((one) => one.row));
    };
    for (const column of columns) {
      const cell = el("th", { scope: "col", class: column[3] });
      cell.append(el("button", { type: "button", onclick: () => sortBy(column, cell) }, column[1]));
      head.append(cell);
    }
    head.append(el("th", { scope: "col", class: "wide" }, "over time"));
    body.append(...rows.map((one) => one.row));
    const search = el("input", { type: "search", "aria-label": "Only processes whose name has", placeholder: "filter by name or pid", oninput: () => {
      for (const { subject, row } of rows) row.hidden = !(label(subject) + " " + subject.title).toLowerCase().includes(search.value.toLowerCase());
    } });
    parent.append(members.length > 8 ? el("p", {}, search) : "", el("table", {}, el("thead", {}, head), body));
  }

  function showEvents() {
    const parent = section("events");
    if (now.marks.length === 0) {
      parent.hidden = true;
      return;
    }
    const names = Object.fromEntries(now.subjects.map((subject) => [subject.id, label(subject)]));
    parent.append(el("ul", { class: "events" }, ...now.marks.slice(0, 300).map((mark) =>
      el("li", {}, el("time", {}, moment(mark.at_ms, longSpan)), el("span", { class: "tag " + mark.severity }, mark.severity || mark.kind), el("span", {}, (names[mark.subject] ? names[mark.subject] + ": " : "") + mark.text)))));
  }

  /* ---- before and after */

  function layerAtEnd(subject, id) {
    const plot = plotOf(subject, "layers");
    const series = plot && unpack(plot).series.find((one) => one.id === id);
    return series ? series.values[series.values.length - 1] : null;
  }
  function showCompare() {
    if (!data.before) return;
    section("compare").hidden = false;
    const afters = now.subjects.filter((subject) => subject.owner === 0);
    const befores = data.before.subjects.filter((subject) => subject.owner === 0);
    section("compare").append(el("p", { class: "soft" }, "Before: " + data.before.file + ", " + moment(data.before.from_ms, true) + ", " + duration(data.before.to_ms - data.before.from_ms) + ". After: " + now.file + "."));
    for (const after of afters) {
      const before = befores.find((one) => one.name === after.name) || (befores.length === 1 && afters.length === 1 ? befores[0] : null);
      if (!before) continue;
      const [paceSeconds, paceName] = paceUnit(before.by_time, after.by_time);
      const change = data.since.find((one) => one.subject === after.id);
      const since = change ? change.since : null;
      const like = !since || since.comparable;
      const rows = [
        ["resident, median", before.median, after.median], ["resident, peak", before.peak, after.peak], ["resident, at the end", before.last, after.last],
        ...(like ? [["in use, last capture", layerAtEnd(before, "in_use"), layerAtEnd(after, "in_use")],
          ["free and resident, last capture", layerAtEnd(before, "free_resident"), layerAtEnd(after, "free_resident")]] : []),
        ["growth, " + paceName, pace(before.by_time, paceSeconds), pace(after.by_time, paceSeconds)],
      ].filter((row) => row[1] !== null && row[2] !== null);
      const body = el("tbody", {}, ...rows.map(([name, old, fresh]) => {
        const change = fresh - old;
        const share = old > 0 && !name.startsWith("growth") ? " (" + (change > 0 ? "+" : change < 0 ? "\u2212" : "") + Math.abs((change / old) * 100).toFixed(0) + " %)" : "";
        return el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, bytes(old)), el("td", {}, bytes(fresh)), el("td", { class: change > 0 ? "up" : change < 0 ? "down" : "" }, bytes(change, true) + share));
      }));
      section("compare").append(el("h3", {}, after.name), el("table", {}, el("thead", {}, el("tr", {}, ...["", "before", "after", "change"].map((text) => el("th", { scope: "col" }, text)))), body));
      if (since) {
        if (!like) section("compare").append(el("p", {}, "The last captures are not of like moments: " + since.unlike + ". Their layers are left out."));
        const promises = since.promises.filter((one) => one.verdict !== "ended");
        if (promises.length > 0) section("compare").append(el("ul", { class: "promises" }, ...promises.map((one) => el("li", {}, el("code", {}, one.rule), " " + one.text))));
      }
      section("compare").append(overlay(before, after));
    }
  }

  /* Both totals over the time since each recording began. */
  function overlay(before, after) {
    const box = el("div", { class: "plot", role: "img", "aria-label": "Resident memory of " + after.name + " over elapsed time, before: median " + bytes(before.median) + ", after: median " + bytes(after.median) });
    const pairs = [[before, data.before.from_ms], [after, now.from_ms]].map(([subject, from]) => {
      const { times, values } = totals(subject);
      return [times.map((time) => time - from / 1000), values];
    });
    const joined = uPlot.join(pairs);
    const draw = () => {
      box.replaceChildren();
      const ink = colour("soft"), grid = { stroke: colour("grid"), width: 1 };
      new uPlot({ width: box.clientWidth || 600, height: 220, legend: { show: false }, cursor: { drag: { x: false, y: false } },
        scales: { x: { time: false }, y: { range: (u, low, high) => [0, high > 0 ? high * 1.06 : 1] } },
        axes: [{ stroke: ink, grid, ticks: grid, space: 80, incrs: timeSteps, values: (u, splits) => splits.map((s) => duration(s * 1000)) }, { stroke: ink, grid, ticks: grid, size: 72, incrs: byteSteps, values: (u, splits) => splits.map((v) => bytes(v)) }],
        series: [{}, { stroke: colour("before"), width: 2, dash: [6, 4], spanGaps: true, points: { show: false } }, { stroke: colour("after"), width: 2, spanGaps: true, points: { show: false } }] }, joined, box);
    };
    redraws.push(draw);
    requestAnimationFrame(draw);
    const swatch = (id) => el("i", { class: "line", style: "background: var(--" + id + ")" });
    return el("figure", {}, el("figcaption", {}, el("h3", {}, "Resident memory since the start"), el("span", { class: "legend" }, el("span", { class: "key" }, swatch("before"), "before"), el("span", { class: "key" }, swatch("after"), "after"))), box);
  }

  /* ---- dark, light, print */

  function paint() {
    for (const plot of plots) {
      plot.paintKeys();
      if (plot.chart) plot.draw();
    }
    redraws.forEach((draw) => draw());
  }
  function setTheme(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    section("theme").setAttribute("aria-pressed", String(dark));
    paint();
  }
  const wish = matchMedia("(prefers-color-scheme: dark)");
  wish.addEventListener("change", () => setTheme(wish.matches));
  section("theme").addEventListener("click", () => setTheme(root.dataset.theme !== "dark"));
  section("zoom-out").addEventListener("click", () => setSpan(null, null));
  let beforePrint = false;
  addEventListener("beforeprint", () => {
    beforePrint = root.dataset.theme === "dark";
    for (const plot of plots) if (!plot.chart) plot.draw();
    setTheme(false);
  });
  addEventListener("afterprint", () => setTheme(beforePrint));

  root.dataset.theme = wish.matches ? "dark" : "light";
  section("theme").setAttribute("aria-pressed", String(wish.matches));
  showSummary();
  showCompare();
  showFindings();
  showTargets();
  showMembers();
  showEvents();
  root.dataset.ready = "true";
})();
