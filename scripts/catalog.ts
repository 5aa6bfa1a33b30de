import { createHash, createPrivateKey, type KeyObject } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type CatalogDocument, formatCatalogDocument } from '../src/catalog/catalog-document.ts'
import { shippedDocument } from '../src/catalog/shipped-catalog.ts'
import { signCatalog } from '../src/catalog/signed-catalog.ts'

/** Content of src/catalog/shipped-catalog.json: which catalog this release has. */
interface CatalogStamp {
  readonly serial: number
  readonly issued: string
  /** Digest of the whole document, so that a change without a new serial is found. */
  readonly sha256: string
}

/**
 * Builds the stamp of a document. The serial is the first one of this day, or the previous serial plus one if
 * that is higher.
 */
export function stampCatalog(document: CatalogDocument, today: string): CatalogStamp {
  const serial = Math.max(document.serial + 1, Number(`${today.replaceAll('-', '')}01`))
  return { serial, issued: today, sha256: digestCatalog({ ...document, serial, issued: today }) }
}

export function digestCatalog(document: CatalogDocument): string {
  return createHash('sha256').update(formatCatalogDocument(document)).digest('hex')
}

/** Reads an Ed25519 private key in PEM format. Only its owner may be able to read the file. */
export async function readSigningKey(file: string): Promise<KeyObject> {
  const { mode } = await stat(file)
  if ((mode & 0o077) !== 0) throw new Error(`other users can read ${file}; run: chmod 600 ${file}`)
  const key = createPrivateKey(await readFile(file))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} is not an Ed25519 key`)
  return key
}

const usage = `npm run catalog -- stamp                                  after a change of src/catalog/minors or flags
npm run catalog -- write --out catalog.json               write the catalog of this checkout, to edit or to sign
npm run catalog -- sign --key FILE --in catalog.json --out cluster.catalog
`

async function run(argv: readonly string[]): Promise<string> {
  const { positionals, values } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { key: { type: 'string' }, in: { type: 'string' }, out: { type: 'string' } },
  })
  const [command] = positionals
  if (command === 'stamp') {
    const stamp = stampCatalog(shippedDocument, new Date().toISOString().slice(0, 10))
    const file = join(import.meta.dirname, '../src/catalog/shipped-catalog.json')
    await writeFile(file, `${JSON.stringify(stamp, undefined, 2)}\n`)
    return `serial ${stamp.serial}\n`
  }
  if (command === 'write' && values.out !== undefined) {
    await writeFile(values.out, formatCatalogDocument(shippedDocument))
    return `${values.out}: serial ${shippedDocument.serial}\n`
  }
  if (command === 'sign' && values.key !== undefined && values.in !== undefined && values.out !== undefined) {
    const signed = signCatalog(await readFile(values.in, 'utf8'), await readSigningKey(values.key))
    await writeFile(values.out, signed)
    return `${values.out}: ${signed.slice(0, signed.indexOf('\n'))}\n`
  }
  throw new Error(`usage:\n${usage}`)
}

if (import.meta.main) process.stdout.write(await run(process.argv.slice(2)))
