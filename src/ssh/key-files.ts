import { readFile } from 'node:fs/promises'
import ssh2, { type ParsedKey } from 'ssh2'
import { formatError } from '../kit/errors.ts'
import type { KeyFile } from './ssh-route.ts'

/** What a key file contains. */
export type FoundKey =
  | { readonly kind: 'private'; readonly path: string; readonly key: ParsedKey }
  /** Only a public key: the agent may hold the private one. */
  | { readonly kind: 'public'; readonly path: string; readonly key: ParsedKey }
  | { readonly kind: 'encrypted'; readonly path: string; readonly publicKey: ParsedKey | undefined }
  /** The file is configured but missing. */
  | { readonly kind: 'missing'; readonly path: string; readonly why: string }
  /** The file cannot be parsed as a key. */
  | { readonly kind: 'unusable'; readonly path: string; readonly why: string }

export async function readKeys(files: readonly KeyFile[]): Promise<readonly FoundKey[]> {
  const found = await Promise.all(files.map(readKey))
  return found.filter((key) => key !== undefined)
}

/** Returns undefined if a file that is not explicitly configured has no key. */
async function readKey({ path, from }: KeyFile): Promise<FoundKey | undefined> {
  const isRequired = from === 'settings'
  let text: Buffer
  try {
    text = await readFile(path)
  } catch (error) {
    return isRequired ? { kind: 'missing', path, why: formatError(error) } : undefined
  }
  const key = parse(text)
  if (key instanceof Error) {
    if (!key.message.startsWith('Encrypted '))
      return isRequired ? { kind: 'unusable', path, why: key.message } : undefined
    const publicKey = await readFile(`${path}.pub`).then(parse, () => undefined)
    return { kind: 'encrypted', path, publicKey: publicKey instanceof Error ? undefined : publicKey }
  }
  return { kind: key.isPrivateKey() ? 'private' : 'public', path, key }
}

function parse(text: Buffer): ParsedKey | Error {
  // These files hold one key; the list type is for a format that is not in use.
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(text)
  return Array.isArray(parsed) ? (parsed[0] ?? new Error('there is no key in it')) : parsed
}
