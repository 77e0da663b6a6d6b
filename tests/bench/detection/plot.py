"""Small SVG plots without a library."""
import math

COLOURS = ("#0b6e4f", "#66a182", "#9ccfb4", "#c0392b", "#e67e22", "#8e44ad", "#7f8c8d", "#2980b9",
           "#1a1a1a", "#b5651d", "#c2185b", "#00838f", "#5d6d7e", "#9a7d0a", "#4a235a", "#f06292", "#6d4c41")
DASHES = {"oracle": "5 4", "river": "2 3", "frouros": "2 3"}  # By the first word of a name.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 820, 400, 60, 310, 20, 45
LONGEST = 20160


def delays(cell, shares, quantile):
    """Median delays of each detector over the share that fails after the change, both axes logarithmic."""
    def x(share):
        low, high = math.log(shares[0]), math.log(shares[-1])
        return LEFT + (math.log(share) - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(minutes):
        return TOP + (1 - math.log(minutes) / math.log(LONGEST)) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for minutes, text in ((1, "1 min"), (10, "10 min"), (60, "1 h"), (360, "6 h"), (1440, "1 d"), (10080, "1 w")):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(minutes):.1f}" y2="{y(minutes):.1f}" '
                   f'stroke="#ddd"/><text x="{LEFT - 6}" y="{y(minutes) + 4:.1f}" text-anchor="end">{text}</text>')
    for share in shares:
        out.append(f'<text x="{x(share):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
                   f'{100 * share:.0f} %</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
               'share that fails after the change; median time to the page</text>')
    for place, (name, of) in enumerate(cell.items()):
        colour = COLOURS[place % len(COLOURS)]
        dashes = DASHES.get(name.split()[0])
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        points = [(x(share), y(max(1, value))) for share in shares if share in of
                  for value in [quantile(of[share]["delays"], .5)] if math.isfinite(value)]
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2"{dash} points="'
                   + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        at = TOP + 14 + 18 * place
        out.append(f'<line x1="{WIDTH - RIGHT + 15}" x2="{WIDTH - RIGHT + 40}" y1="{at}" y2="{at}" '
                   f'stroke="{colour}" stroke-width="2"{dash}/><text x="{WIDTH - RIGHT + 46}" y="{at + 4}">'
                   f'{name}{"" if points else ": never"}</text>')
    return "\n".join(out + ["</svg>", ""])
