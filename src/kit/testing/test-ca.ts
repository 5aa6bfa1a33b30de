import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../command.ts'

export interface TestPair {
  readonly certificate: string
  readonly privateKey: string
}

export interface TestAuthority {
  readonly certificate: string
  /** For 127.0.0.1. */
  readonly server: TestPair
  readonly client: TestPair
  readonly otherClient: TestPair
}

/** An authority that nobody else has, with what it has signed, for tests. */
export async function testAuthority(): Promise<TestAuthority> {
  const directory = await mkdtemp(join(tmpdir(), 'test-authority-'))
  try {
    const config = join(directory, 'openssl.cnf')
    await writeFile(config, '[req]\ndistinguished_name = dn\n[dn]\n')
    const make = async (name: string, ...more: string[]): Promise<TestPair> => {
      const [key, certificate] = [join(directory, `${name}.key`), join(directory, `${name}.crt`)]
      await run([
        ...(['openssl', 'req', '-x509', '-config', config, '-nodes', '-days', '2'] as const),
        ...['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-subj', `/CN=${name}`],
        ...['-keyout', key, '-out', certificate, ...more],
      ])
      return { certificate: await readFile(certificate, 'utf8'), privateKey: await readFile(key, 'utf8') }
    }
    const { certificate } = await make('ca', '-addext', 'basicConstraints=critical,CA:TRUE')
    const signed = ['-CA', join(directory, 'ca.crt'), '-CAkey', join(directory, 'ca.key')]
    const [server, client, otherClient] = await Promise.all([
      make('server', ...signed, '-addext', 'subjectAltName=IP:127.0.0.1'),
      make('client', ...signed),
      make('other-client', ...signed),
    ])
    return { certificate, server, client, otherClient }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
