import { type Colour, colours, escapeXml, renderSvg, renderText, wrapText } from './svg.ts'

/** A filled rectangle with centred text. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly text: string
  readonly colour?: Colour
}

type Side = 'right' | 'down' | 'left' | 'up'

/** An arrow between two boxes. */
export interface Arrow {
  readonly from: Box
  readonly to: Box
  /**
   * Side of `from` where the arrow begins. The arrow ends at the opposite side of `to`. A `back` arrow runs
   * below both boxes, from the bottom of `from` to the bottom of `to`.
   */
  readonly direction: Side | 'back'
  readonly text?: string
  readonly heads?: 'one' | 'both' | 'none'
}

interface Point {
  readonly x: number
  readonly y: number
}

export interface Diagram {
  readonly title: string
  readonly width: number
  readonly height: number
  /** Dashed rectangles around boxes. */
  readonly frames?: readonly Box[]
  readonly headings?: readonly (Point & { readonly text: string })[]
  readonly boxes: readonly Box[]
  readonly arrows: readonly Arrow[]
}

const lineHeight = 17

export function renderDiagram({
  title,
  width,
  height,
  frames = [],
  headings = [],
  boxes,
  arrows,
}: Diagram): string {
  return renderSvg(width, height, title, [
    ...frames.map(renderFrame),
    ...headings.map(({ x, y, text }) => renderText(x, y, text, { bold: true })),
    ...arrows.map(renderArrow),
    ...boxes.map(renderBox),
    ...arrows.flatMap(renderArrowText),
  ])
}

function renderFrame({ x, y, width, height, text }: Box): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" fill="none" stroke="${colours.line}" stroke-dasharray="4 3"/>
${renderText(x + 10, y + 15, text, { bold: true })}`
}

function renderBox({ x, y, width, height, text, colour = 'blue' }: Box): string {
  const lines = wrapText(text, Math.floor((width - 10) / 7.2))
  const top = y + height / 2 - ((lines.length - 1) * lineHeight) / 2
  const rendered = lines.map((line, index) =>
    renderText(x + width / 2, top + index * lineHeight, line, {
      fill: '#fff',
      anchor: 'middle',
      bold: index === 0 && text.includes('\n'),
    }),
  )
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="6" fill="${colours[colour]}"/>\n${rendered.join('\n')}`
}

function findSide({ x, y, width, height }: Box, side: Side): Point {
  const middle = { x: x + width / 2, y: y + height / 2 }
  if (side === 'right') return { ...middle, x: x + width }
  if (side === 'left') return { ...middle, x }
  return { ...middle, y: side === 'down' ? y + height : y }
}

const opposite = { right: 'left', left: 'right', down: 'up', up: 'down' } as const

/** Returns the path of an arrow and its middle, where it bends if the boxes are not in one line. */
function findRoute({ from, to, direction }: Arrow): { middle: Point; path: string } {
  if (direction === 'back') {
    const [start, end] = [findSide(from, 'down'), findSide(to, 'down')]
    const y = Math.max(start.y, end.y) + 10
    const middle = { x: (start.x + end.x) / 2, y }
    return { middle, path: `M${start.x} ${start.y}V${y}H${end.x}V${end.y}` }
  }
  const start = findSide(from, direction)
  const end = findSide(to, opposite[direction])
  const middle = { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 }
  const path =
    direction === 'right' || direction === 'left'
      ? `M${start.x} ${start.y}H${middle.x}V${end.y}H${end.x}`
      : `M${start.x} ${start.y}V${middle.y}H${end.x}V${end.y}`
  return { middle, path }
}

function renderArrow(arrow: Arrow): string {
  const { heads = 'one' } = arrow
  const ends =
    heads === 'none' ? '' : ` marker-end="url(#head)"${heads === 'both' ? ' marker-start="url(#head)"' : ''}`
  return `<path d="${findRoute(arrow).path}" fill="none" stroke="${colours.line}" stroke-width="1.5"${ends}/>`
}

function renderArrowText(arrow: Arrow): string[] {
  if (arrow.text === undefined) return []
  const { middle } = findRoute(arrow)
  const width = Math.ceil(arrow.text.length * 6.4 + 10)
  return [
    `<rect x="${Math.round(middle.x - width / 2)}" y="${middle.y - 9}" width="${width}" height="18" rx="9" fill="${colours.grey}"/>`,
    renderText(middle.x, middle.y, arrow.text, { fill: '#fff', size: 12, anchor: 'middle' }),
  ]
}

/** A node of a decision tree in Mermaid. */
interface TreeNode {
  readonly id: string
  readonly text: string
  readonly question: boolean
  readonly children: { readonly choice: string; readonly node: TreeNode }[]
}

/** Reads a Mermaid flowchart that is a tree of questions: `a["text"] -->|choice| b{"question?"}`. */
export function readDecisionTree(mermaid: string): TreeNode {
  const nodes = new Map<string, TreeNode>()
  const read = (declared: string): TreeNode => {
    const [, id = '', open, text] = /^(\w+)(?:([[{])"([^"]*)"[\]}])?$/.exec(declared.trim()) ?? []
    const known = nodes.get(id)
    if (known !== undefined) return known
    if (text === undefined) throw new Error(`the decision tree has no text for ${declared}`)
    const node: TreeNode = { id, text, question: open === '{', children: [] }
    nodes.set(id, node)
    return node
  }
  const links = mermaid.split('\n').filter((line) => line.includes('-->'))
  for (const line of links) {
    const [, from = '', choice = '', to = ''] = /^(.*?)\s*-->(?:\|([^|]*)\|)?\s*(.*)$/.exec(line) ?? []
    read(from).children.push({ choice, node: read(to) })
  }
  const [root] = nodes.values()
  if (root === undefined) throw new Error('the decision tree is empty')
  return root
}

const cell = { width: 198, height: 60, gapX: 46, gapY: 30 } as const

/**
 * Draws a decision tree as a column of questions. The smaller branch of each question goes to the right, the
 * larger one down.
 */
export function renderDecisionTree(title: string, root: TreeNode): string {
  const boxes: Box[] = []
  const arrows: Arrow[] = []
  const count = (node: TreeNode): number =>
    1 + node.children.reduce((sum, child) => sum + count(child.node), 0)
  /** Adds a node and its branches; returns its box and the next free row. */
  const add = (node: TreeNode, column: number, row: number): { box: Box; nextRow: number } => {
    const box: Box = {
      x: column * (cell.width + cell.gapX) + 1,
      y: row * (cell.height + cell.gapY) + 1,
      width: cell.width,
      height: cell.height,
      text: node.text,
      colour: node === root ? 'grey' : node.question ? 'blue' : 'green',
    }
    boxes.push(box)
    let nextRow = row
    const [first, second] = node.children.toSorted((a, b) => count(a.node) - count(b.node))
    const below = second ?? first
    if (first !== undefined && second !== undefined) {
      const side = add(first.node, column + 1, row)
      arrows.push({ from: box, to: side.box, direction: 'right', text: first.choice })
      nextRow = side.nextRow
    }
    if (below === undefined) return { box, nextRow: row + 1 }
    const lower = add(below.node, column, Math.max(nextRow, row + 1))
    arrows.push({
      from: box,
      to: lower.box,
      direction: 'down',
      ...(below.choice === '' ? {} : { text: below.choice }),
    })
    return { box, nextRow: lower.nextRow }
  }
  add(root, 0, 0)
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + 1
  const height = Math.max(...boxes.map((box) => box.y + box.height)) + 1
  return renderDiagram({ title, width, height, boxes, arrows })
}

/** Reads the path of the picture that a Mermaid block names in its first comment. */
export function readPicture(mermaid: string): string | undefined {
  return /^\s*%% picture: public\/(\S+\.svg)$/m.exec(mermaid)?.[1]
}

/** Returns the `img` element that shows a picture on the site. */
export function renderImage(path: string): string {
  const name = path
    .replace(/^.*\//, '')
    .replace(/\.svg$/, '')
    .replaceAll('-', ' ')
  return `<p class="picture"><img src="/${escapeXml(path)}" alt="Diagram: ${escapeXml(name)}"></p>\n`
}
