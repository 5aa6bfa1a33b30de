import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../src/kit/command.ts'

export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface CertificateWish {
  readonly commonName: string
  readonly organization?: string
  readonly server?: readonly string[]
}

/** Certificates as a careful operator makes them by hand: openssl, P-256, one authority per purpose. */
export class Pki {
  readonly #directory: string
  #made = 0

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Gives `work` a place for keys that only its owner can read and that is gone afterwards. */
  static async within<T>(parent: string, work: (pki: Pki) => Promise<T>): Promise<T> {
    const directory = await mkdtemp(join(parent, 'pki-'))
    try {
      await writeFile(join(directory, 'openssl.cnf'), '[req]\ndistinguished_name = dn\n[dn]\n')
      return await work(new Pki(directory))
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }

  async authority(commonName: string): Promise<KeyPair> {
    return this.#make(`/CN=${commonName}`, [
      'basicConstraints=critical,CA:TRUE',
      'keyUsage=critical,keyCertSign,cRLSign,digitalSignature',
    ])
  }

  async sign(authority: KeyPair, { commonName, organization, server }: CertificateWish): Promise<KeyPair> {
    const subject = organization === undefined ? `/CN=${commonName}` : `/O=${organization}/CN=${commonName}`
    const usage = server === undefined ? 'clientAuth' : 'serverAuth,clientAuth'
    const names = server?.map((name) => (/^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`))
    const extensions = [
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature',
      `extendedKeyUsage=${usage}`,
      ...(names === undefined ? [] : [`subjectAltName=${names.join(',')}`]),
    ]
    return this.#make(subject, extensions, authority)
  }

  /** A bare key with its public half, for service account tokens. */
  async signingKey(): Promise<{ key: string; publicKey: string }> {
    const { stdout: key } = await run([
      'openssl',
      'genpkey',
      '-algorithm',
      'EC',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
    ])
    const { stdout: publicKey } = await run(['openssl', 'pkey', '-pubout'], { input: key })
    return { key, publicKey }
  }

  async #make(subject: string, extensions: readonly string[], authority?: KeyPair): Promise<KeyPair> {
    const work = join(this.#directory, String(this.#made++))
    await mkdir(work)
    const signer = authority === undefined ? [] : await this.#signer(work, authority)
    const config = join(this.#directory, 'openssl.cnf')
    const [keyFile, certificateFile] = [join(work, 'key'), join(work, 'crt')]
    await run([
      'openssl',
      ...['req', '-x509', '-config', config, '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
      ...['-nodes', '-days', '365', '-subj', subject, '-keyout', keyFile, '-out', certificateFile],
      ...extensions.flatMap((extension) => ['-addext', extension]),
      ...signer,
    ])
    return { certificate: await readFile(certificateFile, 'utf8'), key: await readFile(keyFile, 'utf8') }
  }

  async #signer(work: string, { certificate, key }: KeyPair): Promise<string[]> {
    await writeFile(join(work, 'ca.crt'), certificate)
    await writeFile(join(work, 'ca.key'), key, { mode: 0o600 })
    return ['-CA', join(work, 'ca.crt'), '-CAkey', join(work, 'ca.key')]
  }
}
