import { readFile } from 'node:fs/promises'
import ssh2, { type ParsedKey } from 'ssh2'
import { describe } from '../kit/errors.ts'
import type { KeyFile } from './ssh-route.ts'

/** What was found in the place of a private key. */
export type FoundKey =
  | { readonly kind: 'private'; readonly path: string; readonly key: ParsedKey }
  /** Only what everybody may know: the agent may hold the rest. */
  | { readonly kind: 'public'; readonly path: string; readonly key: ParsedKey }
  | { readonly kind: 'encrypted'; readonly path: string; readonly publicKey: ParsedKey | undefined }
  /** Somebody wants it, and it is not there. */
  | { readonly kind: 'missing'; readonly path: string; readonly why: string }
  /** There is something that we cannot read as a key. */
  | { readonly kind: 'unusable'; readonly path: string; readonly why: string }

export async function readKeys(files: readonly KeyFile[]): Promise<readonly FoundKey[]> {
  const found = await Promise.all(files.map(readKey))
  return found.filter((key) => key !== undefined)
}

/** Nothing, when there is no key in a place where nobody said that there is one. */
async function readKey({ path, from }: KeyFile): Promise<FoundKey | undefined> {
  const wanted = from === 'settings'
  let text: Buffer
  try {
    text = await readFile(path)
  } catch (error) {
    return wanted ? { kind: 'missing', path, why: describe(error) } : undefined
  }
  const key = parse(text)
  if (key instanceof Error) {
    if (!key.message.startsWith('Encrypted '))
      return wanted ? { kind: 'unusable', path, why: key.message } : undefined
    const beside = await readFile(`${path}.pub`).then(parse, () => undefined)
    return { kind: 'encrypted', path, publicKey: beside instanceof Error ? undefined : beside }
  }
  return { kind: key.isPrivateKey() ? 'private' : 'public', path, key }
}

function parse(text: Buffer): ParsedKey | Error {
  // Such a file holds one key; the list is for a format that never came.
  const parsed: ParsedKey | ParsedKey[] | Error = ssh2.utils.parseKey(text)
  return Array.isArray(parsed) ? (parsed[0] ?? new Error('there is no key in it')) : parsed
}
