import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../command.ts'

export interface TestKeyPair {
  readonly certificate: string
  readonly privateKey: string
}

export interface TestCa {
  readonly certificate: string
  /** Server certificate for 127.0.0.1, the API server and mirror.example. */
  readonly server: TestKeyPair
  readonly client: TestKeyPair
  readonly otherClient: TestKeyPair
}

/** Creates a throw-away CA for tests, with a server certificate and two client certificates. */
export async function createTestCa(): Promise<TestCa> {
  const directory = await mkdtemp(join(tmpdir(), 'test-authority-'))
  try {
    const config = join(directory, 'openssl.cnf')
    await writeFile(config, '[req]\ndistinguished_name = dn\n[dn]\n')
    const issue = async (name: string, ...more: string[]): Promise<TestKeyPair> => {
      const [key, certificate] = [join(directory, `${name}.key`), join(directory, `${name}.crt`)]
      await runProgram([
        ...(['openssl', 'req', '-x509', '-config', config, '-nodes', '-days', '2'] as const),
        ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', `/CN=${name}`],
        ...['-keyout', key, '-out', certificate, ...more],
      ])
      return { certificate: await readFile(certificate, 'utf8'), privateKey: await readFile(key, 'utf8') }
    }
    const { certificate } = await issue('ca', '-addext', 'basicConstraints=critical,CA:TRUE')
    const signingArgs = ['-CA', join(directory, 'ca.crt'), '-CAkey', join(directory, 'ca.key')]
    const [server, client, otherClient] = await Promise.all([
      issue(
        'server',
        ...signingArgs,
        '-addext',
        'subjectAltName=IP:127.0.0.1,DNS:kubernetes.default.svc,DNS:mirror.example',
      ),
      issue('client', ...signingArgs),
      issue('other-client', ...signingArgs),
    ])
    return { certificate, server, client, otherClient }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
