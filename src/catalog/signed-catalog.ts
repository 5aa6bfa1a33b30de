import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { readVersioned } from '../contract/versioned.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { formatPublicKey, isSignedBy, parsePublicKey, signContent } from '../kit/signature.ts'
import { buildCatalog, type Catalog } from './catalog.ts'
import { type CatalogDocument, catalogFormat } from './catalog-document.ts'

/** Maximum size of a catalog file. The catalog of a release has about 70,000 bytes. */
export const maxCatalogBytes = 2_000_000

/** Deepest level of a valid document. */
const maxDepth = 10

/** Longest reason in a message. A schema error can repeat the whole document. */
const maxReasonLength = 500

const header = /^hyperkube\.dev\/v1 SignedCatalog ed25519 ([\w+/]{43}=) ([\w+/]{86}==)$/

/** A signed catalog whose signature and content were checked. */
export interface SignedCatalog {
  readonly catalog: Catalog
  readonly document: CatalogDocument
}

/**
 * Reads a signed catalog: one line with the key and the signature, then the document. The signature covers
 * every byte after the first line, and is checked before anything is parsed. `location` is for messages.
 */
export function readSignedCatalog(
  location: string,
  text: string,
  trustedKeys: readonly string[],
): SignedCatalog {
  if (text.length > maxCatalogBytes) throw notValid(location, `is larger than ${maxCatalogBytes} bytes`)
  const end = text.indexOf('\n')
  const [, publicKey = '', signature = ''] = header.exec(text.slice(0, Math.max(end, 0))) ?? []
  const key = parsePublicKey(publicKey)
  const signatureBytes = Buffer.from(signature, 'base64')
  // Several base64 texts can decode to the same bytes. Only one of them is accepted, so that no character of
  // the first line can be changed.
  if (key === undefined || signatureBytes.toString('base64') !== signature) {
    throw notTrusted(location, 'is not a signed catalog: its first line has no key and signature')
  }
  if (!trustedKeys.includes(publicKey)) {
    throw notTrusted(location, `is signed by the key ${publicKey}, which is not trusted`)
  }
  const content = Buffer.from(text.slice(end + 1))
  if (!isSignedBy(content, signatureBytes, key)) {
    throw notTrusted(location, `was changed after it was signed by the key ${publicKey}`)
  }
  const document = parseDocument(location, content)
  const { serial, issued } = document
  const sha256 = createHash('sha256').update(text).digest('hex')
  return { document, catalog: buildCatalog(document, { from: 'file', serial, issued, publicKey, sha256 }) }
}

/** Signs the text of a catalog document. Throws if the text is not a valid catalog. */
export function signCatalog(text: string, privateKey: KeyObject): string {
  const content = Buffer.from(text)
  parseDocument('the document', content)
  const publicKey = formatPublicKey(createPublicKey(privateKey))
  const signature = signContent(content, privateKey).toString('base64')
  return `hyperkube.dev/v1 SignedCatalog ed25519 ${publicKey} ${signature}\n${text}`
}

function parseDocument(location: string, content: Buffer): CatalogDocument {
  let value: unknown
  try {
    value = JSON.parse(content.toString())
  } catch (error) {
    throw notValid(location, `is not valid JSON: ${formatError(error)}`)
  }
  const problem = findHostileShape(value, maxDepth)
  if (problem !== undefined) throw notValid(location, problem)
  try {
    return readVersioned(catalogFormat, value)
  } catch (error) {
    const reason = formatError(error).slice(0, maxReasonLength)
    throw notValid(location, `is not a catalog that this hyperkube reads: ${reason}`)
  }
}

/** Finds what a schema would accept or drop silently: deep nesting, and keys that change a prototype. */
function findHostileShape(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === 0) return `has more than ${maxDepth} levels`
  if (Object.hasOwn(value, '__proto__')) return 'has the key __proto__'
  for (const part of Object.values(value)) {
    const problem = findHostileShape(part, depth - 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function notTrusted(location: string, problem: string): HyperkubeError {
  return new HyperkubeError('CATALOG_NOT_TRUSTED', `${location} ${problem}`, {
    hint: 'download it again; if its publisher has announced this key elsewhere: hyperkube catalog update --from FILE --public-key KEY',
  })
}

function notValid(location: string, problem: string): HyperkubeError {
  return new HyperkubeError('CATALOG_NOT_VALID', `${location} ${problem}`, {
    hint: 'download it again; a newer catalog may need a newer hyperkube: hyperkube version',
  })
}
