import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { HyperkubeError } from './errors.ts'

/** PEM, or a file that holds it and is read again whenever it has changed. */
export type Pem = string | { readonly file: string }

/** Whom we believe, and as whom we speak. */
export interface Credentials {
  readonly authority: Pem
  readonly certificate: Pem
  readonly privateKey: Pem
}

/** The same as Node's TLS wants it. */
export interface TlsIdentity {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

interface Reading {
  /** Which files were read: the same stamp, the same content. */
  readonly stamp: string
  readonly identity: TlsIdentity
}

/** Credentials that stay right while somebody renews them on disk. */
export class LiveCredentials {
  readonly #sources: Credentials
  #last: Reading | undefined

  constructor(sources: Credentials) {
    this.#sources = sources
  }

  async current(): Promise<TlsIdentity> {
    try {
      const stamp = await stampOf(this.#sources)
      if (this.#last?.stamp !== stamp) this.#last = { stamp, identity: await read(this.#sources) }
      return this.#last.identity
    } catch (cause) {
      // Certificate and key are two files: between the first and the second of them, what we had still holds.
      if (this.#last !== undefined) return this.#last.identity
      throw new HyperkubeError(
        'CREDENTIALS_NOT_READ',
        `credentials are of no use: ${namesOf(this.#sources)}`,
        {
          cause,
        },
      )
    }
  }
}

/** Cheap enough to be asked before every request. A file that takes another's place has another inode. */
async function stampOf({ authority, certificate, privateKey }: Credentials): Promise<string> {
  const stamps = await Promise.all(
    [authority, certificate, privateKey].map(async (source) => {
      if (typeof source === 'string') return ''
      const { mtimeMs, size, ino } = await stat(source.file)
      return `${mtimeMs} ${size} ${ino}`
    }),
  )
  return stamps.join('\n')
}

async function read({ authority, certificate, privateKey }: Credentials): Promise<TlsIdentity> {
  const [ca, cert, key] = await Promise.all([authority, certificate, privateKey].map(textOf))
  if (ca === undefined || cert === undefined || key === undefined) throw new Error('there are three')
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the certificate is not of this key')
  }
  return { ca, cert, key }
}

async function textOf(source: Pem): Promise<string> {
  return typeof source === 'string' ? source : readFile(source.file, 'utf8')
}

function namesOf({ authority, certificate, privateKey }: Credentials): string {
  const files = [authority, certificate, privateKey].flatMap((source) =>
    typeof source === 'string' ? [] : [source.file],
  )
  return files.length === 0 ? 'those that were given' : files.join(', ')
}
