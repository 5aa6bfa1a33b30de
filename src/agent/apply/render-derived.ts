import { HyperkubeError } from '../../kit/errors.ts'

const placeholder = /\$\{(\w+)(?:\|(\w+))?\}/g

/**
 * Renders a template with values of a source file: ${NAME} is a value, ${NAME|network} the network of an
 * address with a prefix. Returns undefined while a value is missing, because the program that writes the
 * source may not have finished.
 */
export function renderDerived(template: string, sourceText: string): string | undefined {
  const values = parseValues(sourceText)
  const names = [...template.matchAll(placeholder)].map(([, name = '']) => name)
  if (!names.every((name) => values.has(name))) return undefined
  return template.replaceAll(placeholder, (_, name: string, filter?: string) =>
    applyFilter(values.get(name) ?? '', name, filter),
  )
}

/** Parses lines of NAME=VALUE. A last line without a newline is ignored, because it may be incomplete. */
export function parseValues(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').slice(0, -1)
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^\s*(?:export\s+)?(\w+)=(.*?)\s*$/.exec(line) ?? []
      return name === undefined || value === undefined ? [] : [[name, unquote(value)] as const]
    }),
  )
}

function unquote(value: string): string {
  const [, , inside] = /^(["'])(.*)\1$/.exec(value) ?? []
  return inside ?? value
}

function applyFilter(value: string, name: string, filter: string | undefined): string {
  if (filter === undefined) return value
  const network = filter === 'network' ? toNetworkAddress(value) : undefined
  if (network !== undefined) return network
  throw new HyperkubeError('APPLY_NOT_DERIVED', `${name} is ${value}, of which there is no ${filter}`, {
    hint: 'the component that wrote it wrote something else than this release expects',
  })
}

/** Converts an address with a prefix to its network: 10.244.3.1/24 becomes 10.244.3.0/24. */
export function toNetworkAddress(text: string): string | undefined {
  const [, address = '', length = ''] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(text) ?? []
  const bytes = address.split('.').map(Number)
  const prefix = Number(length)
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255) || prefix > 32) return undefined
  const masked = bytes.map((byte, index) => byte & maskByte(prefix - 8 * index))
  return `${masked.join('.')}/${prefix}`
}

/** Returns a byte with its first `bits` bits set. */
function maskByte(bits: number): number {
  return 0xff & ~(0xff >> Math.min(8, Math.max(0, bits)))
}
