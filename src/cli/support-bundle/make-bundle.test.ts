import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readTarSize, tarEntrySize } from '../../bundle/tar.ts'
import { hostCallFormat, type HostCallResponse } from '../../contract/host-call.ts'
import { readVersioned } from '../../contract/versioned.ts'
import type { Argv } from '../../kit/command.ts'
import { createSecretMask } from '../../kit/mask-secrets.ts'
import { scriptedJournal } from '../../lifecycle/logs/testing/scripted-journal.ts'
import { type SupportEntry, supportManifestFormat } from '../../lifecycle/support-bundle/archive.ts'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, buildTestCluster } from '../../plan/testing/fixtures.ts'
import type { Remote } from '../../ssh/remote.ts'
import { createInMemoryContext } from '../testing/run-in-memory.ts'
import { createSupportBundle } from './create-support-bundle.ts'
import { formatSupportBundle } from './text.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-support-'))
})
afterEach(async () => rm(directory, { recursive: true }))

const canary = 'CANARY4kTq9wZr2'
const cluster = buildTestCluster('{ name: cp1, address: 10.0.0.1, roles: [control-plane] }')
const [plan] = planCluster(buildPlanInput(cluster)).plans

/** Returns a plan with a file of the user that contains a secret. */
function planText(): string {
  const [first, ...rest] = plan?.components ?? []
  const file = {
    path: '/etc/mine',
    owner: 'root',
    mode: '0644',
    content: { kind: 'text', text: canary },
    restart: false,
  }
  const extraFiles = { ...first, name: 'extra-files', files: [file] }
  return JSON.stringify({ ...plan, components: [extraFiles, ...rest] })
}

function fakeOutput(argv: Argv): string {
  const line = `Authorization: Bearer ${canary}\nsaid \u001B[31m in red\npassword=${canary}\n`
  if (argv.includes('facts')) return JSON.stringify({ host: 'cp1', note: `http://me:${canary}@proxy` })
  if (argv.some((arg) => arg.endsWith('plan.json'))) return planText()
  return argv.some((arg) => arg.endsWith('journal.ndjson'))
    ? `{"what":{"failure":{"message":"token=${canary}"}}}\ncut {"password":"${canary}"`
    : line
}

const key = ['-----BEGIN PRIVATE KEY-----', canary, '-----END PRIVATE KEY-----', 'after it']

function createRemote(host: string): Remote {
  const journal = scriptedJournal(
    host,
    key.map((MESSAGE, index) => ({
      __REALTIME_TIMESTAMP: String(1_800_000_000_000_000 + index),
      MESSAGE,
      _SYSTEMD_UNIT: 'kubelet.service',
    })),
  )
  return {
    ...journal,
    async open(argv, options) {
      if (argv.includes('agent-call')) throw new Error(`no agent for ${canary} known`)
      return journal.open(argv, options)
    },
    async exec(argv) {
      const isMissing = argv[0] === 'nft'
      const stdout = isMissing ? '' : fakeOutput(argv)
      return { code: isMissing ? 127 : 0, stdout, stderr: '', bytes: Buffer.from(stdout) }
    },
  }
}

/** Creates a Windows host whose hyperkube program responds but whose agent does not. */
function createWindowsRemote(host: string): Remote {
  return {
    ...createRemote(host),
    async open(argv) {
      if (argv.includes('agent-call')) throw new Error(`no agent for ${canary} known`)
      const [stdin, stdout] = [new PassThrough(), new PassThrough()]
      createInterface({ input: stdin }).once('line', (line) => {
        const { body: request } = readVersioned(hostCallFormat, JSON.parse(line))
        const responses: readonly HostCallResponse['body'][] =
          request.type === 'inspect'
            ? [{ type: 'file', file: 'adapters.json', text: JSON.stringify({ note: `for ${canary} known` }) }]
            : [{ type: 'line', component: 'kubelet', time: 1, priority: 6, message: `for ${canary} known` }]
        for (const response of [...responses, { type: 'done' }])
          stdout.write(
            `${JSON.stringify({ apiVersion: 'hyperkube.dev/v1', kind: 'HostCallResponse', body: response })}\r\n`,
          )
      })
      return { stdin, stdout, ended: new Promise(() => undefined), kill: () => undefined }
    },
    windows: {
      base: String.raw`C:\hyperkube`,
      readCurrentVersion: async () => '0.1.0',
      installProgram: async () => Promise.reject(new Error('no program may be installed')),
      removePrograms: async () => undefined,
    },
  }
}

async function* emitClusterEntries(): AsyncGenerator<SupportEntry> {
  yield { path: 'nodes.json', text: '[]' }
  yield { item: 'pods.json', reason: 'no API server is ready' }
}

async function createBundle(path: string) {
  const { context, collectResult } = createInMemoryContext({})
  const bundle = await createSupportBundle(path, {
    context,
    cluster: 'shop',
    hosts: [
      { host: 'cp1', services: ['kubelet'] },
      { host: 'w1', services: ['kubelet'] },
      { host: 'win1', services: ['kubelet'] },
    ],
    async connect(host) {
      if (host === 'w1') throw new Error('no answer from 10.0.0.2')
      return host === 'win1' ? createWindowsRemote(host) : createRemote(host)
    },
    localFiles: [{ path: 'cluster.yml', text: `proxy: http://me:${canary}@proxy` }],
    clusterEntries: emitClusterEntries(),
    since: { ago: 1000 },
    lines: 10,
    mask: createSecretMask([`for ${canary} known`]),
  })
  return { bundle, ...collectResult(0) }
}

function listFiles(archive: Buffer): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (let at = 0; archive[at] !== 0;) {
    const header = archive.subarray(at, at + 512)
    const size = readTarSize(header)
    const name = header.toString('latin1', 0, 100).replace(/\0.*$/s, '')
    files.set(name, archive.toString('utf8', at + 512, at + 512 + size))
    at += tarEntrySize(size)
  }
  return files
}

test('a bundle contains everything available, lists what is missing, and has no secrets', async () => {
  const path = join(directory, 'shop.tar.gz')
  const { bundle, stderr } = await createBundle(path)
  const archive = gunzipSync(await readFile(path))
  expect(archive.includes(canary)).toBe(false)
  expect((await stat(path)).mode & 0o777).toBe(0o600)

  const files = listFiles(archive)
  expect([...files.keys()].at(-1)).toBe('support/manifest.json')
  expect(
    files
      .get('support/cp1/kubelet.log')
      ?.split('\n')
      .map((line) => line.slice(25)),
  ).toEqual(['<6> [removed]', '<6> [removed]', '<6> [removed]', '<6> after it', ''])
  expect(files.get('support/cp1/disks.txt')).toContain(String.raw`said \u001b[31m in red`)
  expect(files.get('support/cp1/plan.json')).toContain(`left out: ${canary.length} characters`)
  expect(JSON.parse(files.get('support/cp1/facts.json') ?? '')).toEqual({
    host: 'cp1',
    note: 'http://[removed]@proxy',
  })

  const manifest = readVersioned(supportManifestFormat, JSON.parse(files.get('support/manifest.json') ?? ''))
  expect(manifest).toEqual(bundle.manifest)
  expect(manifest.files.map((file) => `support/${file.path}`)).toEqual([...files.keys()].slice(0, -1))
  expect(manifest.hosts).toEqual([
    { host: 'cp1' },
    { host: 'w1', reason: 'no answer from 10.0.0.2' },
    { host: 'win1' },
  ])
  expect(manifest.omitted.map(({ item }) => item).toSorted()).toEqual([
    'cp1/agent.json',
    'cp1/certificates.json',
    'cp1/health.json',
    'cp1/packet-filter.txt',
    'pods.json',
    'w1',
    'win1/agent.json',
    'win1/certificates.json',
    'win1/facts.json',
    'win1/health.json',
    'win1/plan.json',
  ])
  expect(files.get('support/win1/adapters.json')).toContain('[removed]')
  expect(files.get('support/win1/kubelet.log')).toContain('[removed]')
  expect(stderr).toContain('w1: no answer from 10.0.0.2\n')
  expect(formatSupportBundle('a.tar.gz', { ...bundle, size: 1_240_000 })).toBe(
    [
      `a.tar.gz: ${manifest.files.length} files from cp1 and win1, 1.2 MB`,
      '  not included, because unreachable: w1',
      '  10 missing entries: reasons in manifest.json',
      '  secrets were removed; check the contents before you share the bundle',
      '',
    ].join('\n'),
  )
})

test('an existing file stays, and no temporary file remains', async () => {
  const path = join(directory, 'shop.tar.gz')
  await writeFile(path, 'mine')
  await expect(createBundle(path)).rejects.toMatchObject({ code: 'EEXIST' })
  expect(await readFile(path, 'utf8')).toBe('mine')
  expect(await readdir(directory)).toEqual(['shop.tar.gz'])
})
