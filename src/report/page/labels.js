/* Names in the roofline. None covers another one or leaves the chart: a name goes where there is room,
 * and is left out where there is none. A box is {x, y, width, height}. */

const LABEL_HEIGHT = 13, LABEL_GAP = 6;

const touches = (a, b) =>
    a.x < b.x + b.width + LABEL_GAP && b.x < a.x + a.width + LABEL_GAP && a.y < b.y + b.height && b.y < a.y + a.height;
const isWithin = (box, area) => box.x >= area.left && box.x + box.width <= area.right &&
    box.y >= area.top && box.y + box.height <= area.bottom;

/* The boxes of a text that begins at a point on its lower edge and rises by an angle: one for each
 * piece as long as the text is high. */
function boxesOf(x, y, width, angle) {
    if (angle === 0)
        return [{x, y: y - LABEL_HEIGHT, width, height: LABEL_HEIGHT}];
    const pieces = Math.ceil(width / LABEL_HEIGHT), cos = Math.cos(angle), sin = Math.sin(angle);
    return Array.from({length: pieces}, (_, i) => {
        const at = i * width / pieces, long = width / pieces;
        /* The four corners of the piece. */
        const xs = [at * cos, (at + long) * cos, at * cos + LABEL_HEIGHT * sin, (at + long) * cos + LABEL_HEIGHT * sin];
        const ys = [at * sin, (at + long) * sin, at * sin - LABEL_HEIGHT * cos, (at + long) * sin - LABEL_HEIGHT * cos];
        const left = x + Math.min(...xs), top = y + Math.min(...ys);
        return {x: left, y: top, width: x + Math.max(...xs) - left, height: y + Math.max(...ys) - top};
    });
}

/* The free one of the candidates that is the first; each is {x, y, angle}. A name that slants stands along a
 * line, which its boxes would touch. */
function freeCandidate(candidates, width, taken, lines, area) {
    return candidates.map(c => ({...c, boxes: boxesOf(c.x, c.y, width, c.angle)}))
        .find(c => c.boxes.every(box => isWithin(box, area) &&
            ![taken, c.angle === 0 ? lines : []].some(list => list.some(t => touches(box, t)))));
}

/* Over and under a flat line from its right end to the left, then before its left end, where no kernel can
 * be; along a slanting one from its left end. */
function roofCandidates(from, to, width, area) {
    const angle = from.y === to.y ? 0 : Math.atan2(to.y - from.y, to.x - from.x);
    const candidates = [];
    if (angle === 0) {
        const right = area.right - width - 4;
        for (let x = right; x >= Math.max(area.left, from.x); x -= 30)
            candidates.push({x, y: from.y - 3, angle}, {x, y: from.y + LABEL_HEIGHT + 3, angle});
        return [...candidates, {x: from.x - width - 4 * LABEL_GAP, y: from.y + 2, angle}];
    }
    const long = Math.hypot(to.x - from.x, to.y - from.y);
    for (let at = 4; at + width < long; at += 30) {
        const x = from.x + at * Math.cos(angle), y = from.y + at * Math.sin(angle);
        for (const off of [4, -LABEL_HEIGHT - 8])
            candidates.push({x: x + off * Math.sin(angle), y: y - off * Math.cos(angle), angle});
    }
    return candidates;
}

/* On all sides of a point, those to its right first. */
function pointCandidates(point, width) {
    const {x, y, radius} = point, away = radius + LABEL_GAP + 1, half = LABEL_HEIGHT / 2;
    const right = x + away, left = x - away - width, middle = x - width / 2;
    return [[right, y + half], [left, y + half], [right, y + half + radius], [left, y + half - radius],
            [middle, y - away], [middle, y + away + LABEL_HEIGHT], [right, y + radius + 2 * half],
            [left, y - radius], [x, y + away + 3 * half], [x - width, y - away - half]]
        .map(([x, y]) => ({x, y, angle: 0}));
}

/* A line as small boxes, which names keep clear of. */
function boxesOfLine(from, to) {
    const pieces = Math.ceil(Math.hypot(to.x - from.x, to.y - from.y) / 4);
    return Array.from({length: pieces + 1}, (_, i) => ({x: from.x + (to.x - from.x) * i / pieces,
        y: from.y + (to.y - from.y) * i / pieces - 1, width: 0, height: 2}));
}

const boxOfPoint = p => ({x: p.x - p.radius, y: p.y - p.radius, width: 2 * p.radius, height: 2 * p.radius});

function drawText(ctx, text, {x, y, angle}) {
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(angle);
    ctx.fillText(text, 0, -3);
    ctx.restore();
}

/* The part of a roof that is in the picture. */
function visiblePart(dataset, x, y, area) {
    const [a, b] = dataset.data.map(p => ({x: x.getPixelForValue(p.x), y: y.getPixelForValue(p.y)}));
    const cut = (from, to, share) => ({x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share});
    const from = a.y > area.bottom ? cut(a, b, (area.bottom - a.y) / (b.y - a.y)) : a;
    return [from.x < area.left ? cut(from, b, (area.left - from.x) / (b.x - from.x)) : from, b];
}

/* Each dataset of points in the order in which the kernels are named. chart.labels has the
 * names with their boxes. */
const names = {
    id: 'names',
    afterDatasetsDraw(chart) {
        const {ctx, chartArea: area, scales: {x, y}} = chart, visible = [];
        chart.data.datasets.forEach((dataset, i) => {
            if (chart.isDatasetVisible(i))
                visible.push([dataset, chart.getDatasetMeta(i).data]);
        });
        const points = visible.filter(([dataset]) => !dataset.isRoof).flatMap(([dataset, elements]) =>
            elements.map((e, i) => ({x: e.x, y: e.y, radius: e.options.radius, kernel: dataset.data[i].kernel})));
        const taken = points.filter(p => p.kernel.share >= NAMED_SHARE).map(boxOfPoint);
        const lines = visible.filter(([dataset]) => dataset.isRoof)
            .map(([dataset]) => [dataset, visiblePart(dataset, x, y, area)]);
        const drawn = lines.flatMap(([, part]) => boxesOfLine(...part));
        chart.labels = [];
        /* Answers whether there was room. */
        const write = (text, color, candidatesOf) => {
            const width = ctx.measureText(text).width;
            const free = freeCandidate(candidatesOf(width), width, taken, drawn, area);
            if (!free)
                return false;
            taken.push(...free.boxes);
            chart.labels.push({text, boxes: free.boxes});
            ctx.fillStyle = color;
            drawText(ctx, text, free);
            return true;
        };
        ctx.save();
        ctx.font = `11px ${Chart.defaults.font.family}`;
        /* A roof is named once, at its nominal line where there is one. */
        for (const [{roof, kind}, part] of lines)
            if (kind === (isNumber(roof.nominal) ? 'nominal' : 'measured'))
                [roofText(roof), roof.name].some(text =>
                    write(text, cssColor('--muted'), width => roofCandidates(...part, width, area)));
        for (const point of points)
            if (point.kernel.share >= NAMED_SHARE)
                write(point.kernel.short, cssColor('--text'), width => pointCandidates(point, width));
        ctx.restore();
    },
};
