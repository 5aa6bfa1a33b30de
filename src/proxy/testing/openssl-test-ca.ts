import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../kit/command.ts'

export interface OpensslKeyPair {
  readonly certificate: string
  readonly privateKey: string
}

/** PEM files of a test CA, of a server at 127.0.0.1 and of a client, created with openssl. */
export interface OpensslTestCa {
  readonly certificate: string
  readonly server: OpensslKeyPair
  readonly client: OpensslKeyPair
}

export async function createOpensslTestCa(): Promise<OpensslTestCa> {
  const directory = await mkdtemp(join(tmpdir(), 'authority-'))
  try {
    const config = join(directory, 'openssl.cnf')
    await writeFile(config, '[req]\ndistinguished_name = dn\n[dn]\n')
    const issue = async (
      name: string,
      extensions: readonly string[],
      signer: string[],
    ): Promise<OpensslKeyPair> => {
      const [keyFile, certificateFile] = [join(directory, `${name}.key`), join(directory, `${name}.crt`)]
      await runProgram([
        'openssl',
        ...['req', '-x509', '-config', config, '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
        ...['-nodes', '-days', '1', '-subj', `/CN=${name}`, '-keyout', keyFile, '-out', certificateFile],
        ...extensions.flatMap((extension) => ['-addext', extension]),
        ...signer,
      ])
      return {
        certificate: await readFile(certificateFile, 'utf8'),
        privateKey: await readFile(keyFile, 'utf8'),
      }
    }
    const { certificate } = await issue('ca', ['basicConstraints=critical,CA:TRUE'], [])
    const signer = ['-CA', join(directory, 'ca.crt'), '-CAkey', join(directory, 'ca.key')]
    const leaf = 'basicConstraints=critical,CA:FALSE'
    const names = 'subjectAltName=IP:127.0.0.1,IP:127.0.0.2,DNS:kubernetes'
    return {
      certificate,
      server: await issue('server', [leaf, names, 'extendedKeyUsage=serverAuth'], signer),
      client: await issue('client', [leaf, 'extendedKeyUsage=clientAuth'], signer),
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
