import { X509Certificate, createPrivateKey } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { HyperkubeError } from './errors.ts'

/** PEM text, or a file with PEM text that is read again after each change. */
export type Pem = string | { readonly file: string }

/** The trusted CA and the client certificate with its key. */
export interface TlsCredentials {
  readonly ca: Pem
  readonly certificate: Pem
  readonly privateKey: Pem
}

/** Credentials in the form that Node's TLS functions expect. */
export interface TlsIdentity {
  readonly ca: string
  readonly cert: string
  readonly key: string
}

interface CachedIdentity {
  /**
   * Identifies the versions of the files that were read. An equal stamp means that the files are unchanged.
   */
  readonly stamp: string
  readonly identity: TlsIdentity
}

/** Reloads credentials from disk when their files change, for example after a renewal. */
export class ReloadingCredentials {
  readonly #sources: TlsCredentials
  #cached: CachedIdentity | undefined

  constructor(sources: TlsCredentials) {
    this.#sources = sources
  }

  async current(): Promise<TlsIdentity> {
    try {
      const stamp = await readStamp(this.#sources)
      if (this.#cached?.stamp !== stamp) this.#cached = { stamp, identity: await readIdentity(this.#sources) }
      return this.#cached.identity
    } catch (cause) {
      // Certificate and key are separate files. While only one of them has been replaced, keep the cached
      // pair.
      if (this.#cached !== undefined) return this.#cached.identity
      throw new HyperkubeError(
        'CREDENTIALS_NOT_READ',
        `cannot use the TLS credentials: ${formatSources(this.#sources)}`,
        {
          cause,
        },
      )
    }
  }
}

/**
 * Returns a stamp that changes when a credential file changes. Reads only file metadata, so it can be called
 * for every request. The inode number changes when a file is replaced by a rename.
 */
async function readStamp({ ca, certificate, privateKey }: TlsCredentials): Promise<string> {
  const stamps = await Promise.all(
    [ca, certificate, privateKey].map(async (source) => {
      if (typeof source === 'string') return ''
      const { mtimeMs, size, ino } = await stat(source.file)
      return `${mtimeMs} ${size} ${ino}`
    }),
  )
  return stamps.join('\n')
}

async function readIdentity({ ca, certificate, privateKey }: TlsCredentials): Promise<TlsIdentity> {
  const [caPem, certPem, keyPem] = await Promise.all([ca, certificate, privateKey].map(readPem))
  if (caPem === undefined || certPem === undefined || keyPem === undefined)
    throw new Error('the CA, certificate or key is missing')
  if (!new X509Certificate(certPem).checkPrivateKey(createPrivateKey(keyPem))) {
    throw new Error('the certificate does not match the key')
  }
  return { ca: caPem, cert: certPem, key: keyPem }
}

async function readPem(source: Pem): Promise<string> {
  return typeof source === 'string' ? source : readFile(source.file, 'utf8')
}

function formatSources({ ca, certificate, privateKey }: TlsCredentials): string {
  const files = [ca, certificate, privateKey].flatMap((source) =>
    typeof source === 'string' ? [] : [source.file],
  )
  return files.length === 0 ? 'given as text' : files.join(', ')
}
