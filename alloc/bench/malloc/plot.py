"""The plot of bench-malloc: time against peak memory, one dot for each allocator, as SVG."""

WIDTH, HEIGHT, MARGIN = 640, 420, 60
COLOURS = {"glibc": "#666666", "arena2": "#a0a0a0", "jemalloc": "#c0504d", "tcmalloc": "#e08a1e",
           "mimalloc": "#4f81bd", "rpmalloc": "#8064a2", "strata": "#1b9e4b"}


def axis_end(values):
    return max(1.1, max(values) * 1.1)


def dots(points, x_of, y_of, radius, opacity):
    for name, x, y in points:
        yield (f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="{radius}" fill="{COLOURS.get(name.rstrip("+"), "black")}" '
               f'fill-opacity="{opacity}"/>')


def svg(means, shapes):
    """means and shapes: lists of (allocator, time ratio, peak ratio), glibc = 1."""
    x_end, y_end = axis_end(x for _, x, _ in means), axis_end(y for _, _, y in means)

    def x_of(value):
        return MARGIN + min(value, x_end) / x_end * (WIDTH - 2 * MARGIN)

    def y_of(value):
        return HEIGHT - MARGIN - min(value, y_end) / y_end * (HEIGHT - 2 * MARGIN)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for tick in range(0, 31):
        value = tick / 5
        if value <= x_end:
            parts.append(f'<path d="M{x_of(value):.1f} {y_of(0)}V{y_of(y_end)}" stroke="#eeeeee"/>'
                         f'<text x="{x_of(value):.1f}" y="{y_of(0) + 16}" text-anchor="middle">{value:.1f}</text>')
        if value <= y_end:
            parts.append(f'<path d="M{x_of(0)} {y_of(value):.1f}H{x_of(x_end)}" stroke="#eeeeee"/>'
                         f'<text x="{x_of(0) - 6}" y="{y_of(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>')
    parts.extend(dots(shapes, x_of, y_of, 3, 0.35))
    parts.extend(dots(means, x_of, y_of, 7, 1))
    for name, x, y in means:
        parts.append(f'<text x="{x_of(x) + 10:.1f}" y="{y_of(y) - 8:.1f}">{name}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 16}" text-anchor="middle">processor time, glibc = 1 '
                 '(large: geometric means; small: single shapes)</text>'
                 f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
                 'peak RSS, glibc = 1</text></svg>')
    return "\n".join(parts) + "\n"
