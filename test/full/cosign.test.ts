import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { terminalReport } from '../../lab/report.ts'
import { formatChecksums, hashFiles } from '../../scripts/release/checksums.ts'
import { type CommandResult, runProgram } from '../../src/kit/command.ts'

/** The commands with cosign in docs/contributing/release.md and docs/how-to/install.md, without a network. */
const [sums, bundle] = ['SHA256SUMS', 'SHA256SUMS.sigstore.json']
let directory: string
let program: string

beforeAll(async () => {
  const [built] = await buildComponents(selectParts(['cosign']), {
    cache: cacheDirectory(),
    report: terminalReport(),
  })
  program = join(built?.directory ?? '', 'cosign')
  directory = await mkdtemp(join(tmpdir(), 'cosign-'))
  await writeFile(join(directory, 'hyperkube-linux-x64'), 'program')
  await writeFile(join(directory, sums), formatChecksums(await hashFiles(directory)))
  await cosign('generate-key-pair')
  await cosign('generate-key-pair', '--output-key-prefix', 'other')
  await cosign('signing-config', 'create', '--out', 'signing-config.json')
  const config = ['--signing-config', 'signing-config.json'] as const
  await cosign('sign-blob', '--yes', '--key', 'cosign.key', ...config, '--bundle', bundle, sums)
}, 7_200_000)
afterAll(async () => rm(directory, { recursive: true, force: true }))

async function cosign(...args: readonly string[]): Promise<CommandResult> {
  // cosign keeps downloaded keys of the public service in HOME, and must not need them.
  const env = { PATH: process.env['PATH'], HOME: directory, COSIGN_PASSWORD: '' }
  return runProgram(['unshare', '--net', program, ...args], { cwd: directory, env })
}

async function verify(key = 'cosign.pub', signature = bundle, file = sums): Promise<CommandResult> {
  const options = ['--insecure-ignore-tlog', '--bundle', signature]
  return cosign('verify-blob', '--key', key, ...options, file)
}

test('cosign verifies the checksums with the public key', async () => {
  expect((await verify()).stderr).toContain('Verified OK')
})

test('cosign refuses changed checksums, another key and a changed signature', async () => {
  const content = await readFile(join(directory, sums), 'utf8')
  await writeFile(
    join(directory, 'changed'),
    content.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
  )
  await expect(verify('cosign.pub', bundle, 'changed')).rejects.toThrow('invalid signature')
  await expect(verify('other.pub')).rejects.toThrow('invalid signature')
  const signed = await readFile(join(directory, bundle), 'utf8')
  const [, signature = ''] = /"signature":"([^"]+)"/.exec(signed) ?? []
  const changed = `${signature.slice(0, 20)}${signature[20] === 'A' ? 'B' : 'A'}${signature.slice(21)}`
  await writeFile(join(directory, 'changed.json'), signed.replace(signature, changed))
  await expect(verify('cosign.pub', 'changed.json')).rejects.toThrow('invalid signature')
})
