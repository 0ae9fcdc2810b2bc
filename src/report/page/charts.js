/* The common part of all charts: a frame with a heading, and the keyboard: a chart that has the
 * focus is walked through point by point with the arrow keys, and each is spoken; Enter opens the
 * kernel, Escape hides the tooltip. */

function chartFrame(title, note, height, label) {
    const canvas = h('canvas', {tabindex: 0, role: 'img', 'aria-label': label || title});
    const box = h('div', {class: `chart chart-${height}`}, canvas);
    return {canvas, element: h('figure', {},
        h('figcaption', {}, h('b', {}, title), note && h('span', {class: 'muted'}, ' ', note)), box)};
}

/* The points of a chart in an order that makes sense to walk through. */
function walkable(chart) {
    const points = [];
    chart.data.datasets.forEach((dataset, datasetIndex) => {
        if (dataset.isRoof || !chart.isDatasetVisible(datasetIndex))
            return;
        dataset.data.forEach((_, index) => points.push({datasetIndex, index}));
    });
    return points;
}

function walk(canvas, open) {
    let at = -1;
    canvas.addEventListener('keydown', event => {
        const chart = theme.charts.get(canvas)?.chart;
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        if (!chart)
            return;
        const points = walkable(chart);
        if (step && points.length > 0) {
            at = at < 0 ? (step > 0 ? 0 : points.length - 1) : (at + step + points.length) % points.length;
            event.preventDefault();
            activate(chart, points[at]);
            say([...chart.tooltip.title, ...chart.tooltip.body.flatMap(b => b.lines)].join(', '));
        } else if (event.key === 'Enter' && at >= 0 && at < points.length && open) {
            open(points[at], chart);
        } else if (event.key === 'Escape' && at >= 0) {
            event.stopPropagation();
            at = -1;
            activate(chart, null);
        }
    });
    canvas.addEventListener('blur', () => {
        const chart = theme.charts.get(canvas)?.chart;
        if (chart)
            activate(chart, null);
    });
}

function activate(chart, point) {
    const active = point ? [point] : [];
    const element = point && chart.getDatasetMeta(point.datasetIndex).data[point.index];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, element ? {x: element.x, y: element.y} : {x: 0, y: 0});
    chart.update('none');
}

/* A mouse click on a point opens its kernel. */
function clickOpens(kernelAt) {
    return {
        onClick(event, elements, chart) {
            const kernel = elements.length > 0 && kernelAt(elements[0], chart);
            if (kernel)
                openKernel(kernel);
        },
        onHover(event, elements) {
            event.native.target.style.cursor = elements.length > 0 ? 'pointer' : 'default';
        },
    };
}

/* Between powers of ten a logarithmic axis has no lines. */
function keepDecades(axis) {
    axis.ticks = axis.ticks.filter(({value: v}) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
}

const logTick = unit => tick => {
    const exponent = Math.log10(tick);
    return Math.abs(exponent - Math.round(exponent)) < 1e-9 ? shortNumber(tick, unit) : '';
};

/* "10 GFLOP/s", without digits behind the point. */
function shortNumber(number, unit) {
    const steps = STEPS[unit];
    if (!steps)
        return number >= 1e-3 && number < 1e5 ? String(+number.toPrecision(3))
                                             : number.toExponential(0);
    let step = steps[0];
    for (const next of steps)
        if (number >= next[0] * 0.99995)
            step = next;
    return `${+(number / step[0]).toPrecision(3)} ${step[1]}`;
}
