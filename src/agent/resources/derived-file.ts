import type { DerivedFile } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatIpv6, parseIpv6 } from '../../kit/ipv6.ts'
import type { Host } from '../host/host.ts'
import {
  inspectFile,
  recordFileBefore,
  removePlannedFile,
  sha256Hex,
  writePlannedFile,
} from './planned-file.ts'
import type { MakeContext, ResourceHandler } from './resource-handler.ts'
import { waitFor } from './wait-for.ts'

export const derivedFileHandler: ResourceHandler<'derived-file', DerivedFile> = {
  target: 'derived-file',
  findSpec: ({ derivedFiles }, name) => derivedFiles.find(({ path }) => path === name),

  /**
   * Compares the file with its current source. If the source is missing, as after a boot, or has an invalid
   * value, compares the file with the recorded digest.
   */
  async inspect({ name, owner, mode, from, template, sha256 }, { host }) {
    const text = await tryRender(host, { from, template }).catch(() => undefined)
    const desiredSha256 = text === undefined ? sha256 : sha256Hex(text)
    const state = await inspectFile(host, name, { owner, mode, sha256: desiredSha256 })
    // If only the digests differ, a run was interrupted after it wrote the file, and the ledger has the old
    // digest. Drift is reported, so that the next run records the new digest. Otherwise the comparison after
    // a boot would fail.
    return state === 'as-written' && desiredSha256 !== sha256
      ? { drift: 'written, but not recorded in the ledger' }
      : state
  },

  async recordBefore({ from, template, ...spec }, context) {
    // The final content is not known yet, so the digest of the template is recorded.
    const record = await recordFileBefore({ ...spec, content: Buffer.from(template) }, context)
    return record && { ...context.head, target: 'derived-file', from, template, ...record }
  },

  async make({ path, owner, mode, from, template }, context, previous) {
    const content = Buffer.from(await waitForRendered({ from, template }, context))
    const { changed, record } = await writePlannedFile({ path, owner, mode, content }, context, previous)
    return { changed, resource: { ...context.head, target: 'derived-file', from, template, ...record } }
  },

  remove: async (resource, context) => removePlannedFile(resource.name, resource, context),
}

type Source = Pick<DerivedFile, 'from' | 'template'>

async function tryRender({ files }: Host, { from, template }: Source): Promise<string | undefined> {
  const text = await files.read(from)
  return text === undefined ? undefined : renderDerived(template, text.toString('utf8'))
}

/** Waits until the source is complete. The program that writes it may itself wait for other services. */
async function waitForRendered(
  source: Source,
  { host, component, emit, signal }: MakeContext,
): Promise<string> {
  return waitFor(
    async () => {
      const text = await tryRender(host, source)
      return text === undefined ? { for: `${source.from}, which ${component.name} writes` } : { found: text }
    },
    { clock: host.clock, signal, emit: (what) => emit(what, component.name) },
  )
}

const placeholder = /\$\{(\w+)(?:\|(\w+))?\}/g

/**
 * Renders a template with values of a source file. ${NAME} is a value, and ${NAME|network} is the network of
 * an address with a prefix. Returns undefined while a value is missing, because the program that writes the
 * source file may not have finished.
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
  throw new HyperkubeError('APPLY_NOT_DERIVED', `${name} is ${value}, which has no ${filter}`, {
    hint: 'this release does not support the version of the component that wrote this value',
  })
}

/** Converts an address with a prefix to its network: 10.244.3.1/24 becomes 10.244.3.0/24. */
export function toNetworkAddress(text: string): string | undefined {
  const [, address = '', length = ''] = /^([\d.]+|[\da-fA-F:]+)\/(\d{1,3})$/.exec(text) ?? []
  const prefix = Number(length)
  const groups = parseIpv6(address)
  if (groups !== undefined) {
    if (prefix > 128) return undefined
    return `${formatIpv6(groups.map((group, index) => group & maskGroup(prefix - 16 * index)))}/${prefix}`
  }
  const bytes = address.split('.').map(Number)
  if (bytes.length !== 4 || bytes.some((byte) => byte > 255) || prefix > 32) return undefined
  const masked = bytes.map((byte, index) => byte & maskByte(prefix - 8 * index))
  return `${masked.join('.')}/${prefix}`
}

/** Returns 16 bits of which the first `bits` bits are set. */
function maskGroup(bits: number): number {
  return 0xffff & ~(0xffff >> Math.min(16, Math.max(0, bits)))
}

/** Returns a byte with its first `bits` bits set. */
function maskByte(bits: number): number {
  return 0xff & ~(0xff >> Math.min(8, Math.max(0, bits)))
}
