import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'

export interface KeyPair {
  readonly certificate: string
  readonly key: string
}

export interface CertificateSpec {
  readonly commonName: string
  readonly organization?: string
  readonly server?: readonly string[]
}

/** Creates keys and certificates with openssl (P-256, one CA per purpose), as an operator would by hand. */
export class Pki {
  readonly #directory: string
  #count = 0

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** Calls `work` with a PKI whose directory only its owner can read. The directory is deleted afterwards. */
  static async withTemporary<T>(parent: string, work: (pki: Pki) => Promise<T>): Promise<T> {
    const directory = await mkdtemp(join(parent, 'pki-'))
    try {
      await writeFile(join(directory, 'openssl.cnf'), '[req]\ndistinguished_name = dn\n[dn]\n')
      return await work(new Pki(directory))
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }

  async createCa(commonName: string): Promise<KeyPair> {
    return this.#issue(`/CN=${commonName}`, [
      'basicConstraints=critical,CA:TRUE',
      'keyUsage=critical,keyCertSign,cRLSign,digitalSignature',
    ])
  }

  async sign(ca: KeyPair, { commonName, organization, server }: CertificateSpec): Promise<KeyPair> {
    const subject = organization === undefined ? `/CN=${commonName}` : `/O=${organization}/CN=${commonName}`
    const usage = server === undefined ? 'clientAuth' : 'serverAuth,clientAuth'
    const names = server?.map((name) => (/^[\d.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`))
    const extensions = [
      'basicConstraints=critical,CA:FALSE',
      'keyUsage=critical,digitalSignature',
      `extendedKeyUsage=${usage}`,
      ...(names === undefined ? [] : [`subjectAltName=${names.join(',')}`]),
    ]
    return this.#issue(subject, extensions, ca)
  }

  /** Creates a key pair for service account tokens, without a certificate. */
  async signingKey(): Promise<{ key: string; publicKey: string }> {
    const { stdout: key } = await runProgram([
      'openssl',
      'genpkey',
      '-algorithm',
      'EC',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
    ])
    const { stdout: publicKey } = await runProgram(['openssl', 'pkey', '-pubout'], { input: key })
    return { key, publicKey }
  }

  async #issue(subject: string, extensions: readonly string[], ca?: KeyPair): Promise<KeyPair> {
    const work = join(this.#directory, String(this.#count++))
    await mkdir(work)
    const signer = ca === undefined ? [] : await this.#signer(work, ca)
    const config = join(this.#directory, 'openssl.cnf')
    const [keyFile, certificateFile] = [join(work, 'key'), join(work, 'crt')]
    await runProgram([
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
