(() => {
  "use strict";
  const counts = JSON.parse(document.getElementById("counts").textContent);
  const controls = document.querySelector(".controls");
  const slider = document.getElementById("t");
  const dash = "–";

  // class shares to the power t, in the logarithm so that nothing overflows; a class without a
  // share has no weight where t > 0, as much as any other at 0, and all of it below 0
  const weightsOf = (shares, t) => {
    if (!(Math.max(...shares) > 0)) return shares.map(() => NaN);
    if (t === 0) return shares.map(() => 1 / shares.length);
    const absent = shares.filter((share) => share === 0).length;
    if (t < 0 && absent) return shares.map((share) => (share === 0 ? 1 / absent : 0));
    const logs = shares.map((share) => (share === 0 ? -Infinity : t * Math.log(share)));
    const largest = Math.max(...logs);
    const powers = logs.map((log) => Math.exp(log - largest));
    const total = powers.reduce((sum, power) => sum + power, 0);
    return powers.map((power) => power / total);
  };

  const scoreOf = (hits, support, weights) => {
    let score = 0;
    for (let k = 0; k < hits.length; k += 1) {
      if (weights[k] > 0) score += weights[k] * (hits[k] / support[k]);
      else if (Number.isNaN(weights[k])) return NaN;
    }
    return score;
  };

  const pooled = (support) =>
    support.reduce((sums, row) => sums.map((sum, k) => sum + row[k]), (support[0] ?? []).map(() => 0));

  const scoresOf = ({ hits, support, ...table }, t, from) => {
    let common = null;
    if (from === "given") common = weightsOf(counts.given, t);
    else if (from === "pooled" && table.pooled) common = weightsOf(pooled(support), t);
    return support.map((row, g) => scoreOf(hits[g], row, common || weightsOf(row, t)));
  };

  const ranked = [...document.querySelectorAll("table.ranked")].map((element) => ({
    element,
    counts: counts.tables[Number(element.dataset.table)],
    shownT: element.querySelector(".shown-t"),
    groups: [...element.tBodies[0].rows].map((row) => ({
      place: Number(row.dataset.row),
      cells: [...row.cells].slice(1, -1).map(({ className, dataset, textContent }) => ({
        className,
        number: dataset.number,
        text: textContent,
      })),
    })),
    unwritten: [],
    turn: 0,
  }));

  const write = (cell, text) => {
    (cell.firstElementChild ?? cell).textContent = text;
  };

  const writeRow = ([row, { cells, rank, score }]) => {
    const [first, ...others] = row.cells;
    const last = others.pop();
    write(first, rank);
    write(last, Number.isNaN(score) ? dash : score.toFixed(3));
    last.dataset.number = score;
    others.forEach((cell, at) => {
      write(cell, cells[at].text);
      cell.className = cells[at].className;
      if (cells[at].number !== undefined) cell.dataset.number = cells[at].number;
    });
  };

  const writeSome = (table, most) => {
    clearTimeout(table.turn);
    table.unwritten.splice(0, most).forEach(writeRow);
    table.element.setAttribute("aria-busy", table.unwritten.length > 0);
    if (table.unwritten.length) table.turn = setTimeout(writeSome, 0, table, most);
  };

  const finish = () => ranked.forEach((table) => writeSome(table, Infinity));

  // rows keep their places and change their text, which is quicker than to move them: those in sight
  // and about it at once, the others in turns that leave time for the next move of the slider
  const writeRows = (table) => {
    const { element, groups } = table;
    const top = element.parentElement.getBoundingClientRect().top;
    const pairs = [...element.tBodies[0].rows].map((row, at) => [row, groups[at]]);
    const seen = pairs.findIndex(([row]) => row.getBoundingClientRect().bottom > top);
    const first = Math.max(0, seen - 50);
    table.unwritten = [...pairs.slice(first), ...pairs.slice(0, first)];
    writeSome(table, 100);
  };

  const rank = (table, t, from) => {
    const { element, groups, shownT, counts: { support } } = table;
    const scores = scoresOf(table.counts, t, from);
    const isUnranked = support.map((row, g) => row.includes(0) || Number.isNaN(scores[g]));
    const worth = (g) => (Number.isNaN(scores[g]) ? -1 : scores[g]);
    groups.sort(
      ({ place: g }, { place: h }) => isUnranked[g] - isUnranked[h] || worth(h) - worth(g) || g - h,
    );
    groups.forEach((group, at) => {
      group.rank = isUnranked[group.place] ? dash : `${at + 1}`;
      group.score = scores[group.place];
    });
    writeRows(table);
    element.querySelectorAll("th[aria-sort]").forEach((header) => header.removeAttribute("aria-sort"));
    shownT.textContent = t.toFixed(2);
    return groups.length ? groups[0].cells[0].text : "";
  };

  const move = () => {
    const t = Number(slider.value);
    const from = document.querySelector("input[name=shares]:checked").value;
    const best = ranked.map((table) => rank(table, t, from));
    document.getElementById("shown-t").textContent = t.toFixed(2);
    slider.setAttribute("aria-valuetext", `${t.toFixed(2)}, best: ${best[0]}`);
    document.querySelectorAll("svg[data-step]").forEach((svg) => {
      const x = Number(svg.dataset.start) + t * Number(svg.dataset.step);
      const line = svg.querySelector("line.now");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    });
  };

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.dataset.number ?? cell.textContent;
    const number = Number(text);
    return text.trim() === "" || Number.isNaN(number) ? text : number;
  };

  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b);
  };

  const isOpen = (key) => key === dash || key === "NaN" || key === "nan";

  const sort = (header) => {
    finish();
    const table = header.closest("table");
    const column = header.cellIndex;
    const descending = header.getAttribute("aria-sort") === "ascending";
    const rows = [...table.tBodies[0].rows].map((row) => [keyOf(row, column), row]);
    rows.sort(([a], [b]) => {
      if (isOpen(a) || isOpen(b)) return isOpen(a) - isOpen(b); // what is undefined stays last
      return descending ? compare(b, a) : compare(a, b);
    });
    table.tBodies[0].append(...rows.map(([, row]) => row));
    table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  };

  document.querySelectorAll("table.sortable thead th").forEach((header) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort(header));
    header.append(button);
  });

  controls.hidden = false;
  slider.addEventListener("input", move);
  controls.addEventListener("change", move);
  window.addEventListener("beforeprint", finish);
  move();
})();
