import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { runProgram } from '../../src/kit/command.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { openFreshLab } from '../support/lab.ts'
import { createOperator, type Operator } from '../support/operator.ts'
import { testChartVersion, writeTestChart } from '../support/test-chart.ts'

const kubernetes = '1.37.1'
const bundle = `lab-${kubernetes}.bundle`
const summary = z.object({
  kind: z.literal('BundleSummary'),
  images: z.array(z.string()).min(6),
  size: z.number(),
})
const source = z.object({ spec: z.object({ artifacts: z.object({ mirror: z.url() }) }) })

let lab: Lab
let hosts: readonly Host[]
let operator: Operator
let mirror: string

/**
 * Creates the bundle while the mirror is reachable. Afterwards hosts can open connections only to each other.
 */
beforeAll(async () => {
  lab = await openFreshLab('air-gap')
  hosts = await lab.up(['cp1', 'w1'])
  operator = await createOperator(lab, hosts, kubernetes, { addons: true, parts: ['helm'] })
  await operator.must(0, 'secret', 'set', 'shop-database', '--from-file', await writePassword())
  // The server exists only while the bundle is created, so the chart cannot come from it later.
  await using server = await startChartServer()
  await operator.edit((document) => {
    const secretValues = { 'database.password': { secret: 'shop-database' } }
    const chart = { archive: server.archive, version: testChartVersion, hooks: 'ignore', secretValues }
    document.setIn(['spec', 'addons'], [{ name: 'shop', chart }])
  })
  await operator.must(0, 'lock')
  await operator.must(0, 'bundle', 'create')
  await operator.edit((document) => {
    mirror = source.parse(document.toJSON()).spec.artifacts.mirror
    document.setIn(['spec', 'artifacts'], { bundle })
    document.setIn(['spec', 'registries'], [])
  })
  await settleAll(hosts.map(async (host) => blockConnections(host, lab.gateway)))
}, 900_000)
afterAll(async () => {
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

async function writePassword(): Promise<string> {
  const file = join(operator.directory, 'password')
  await writeFile(file, 'correct-horse-battery', { mode: 0o600 })
  return file
}

/** Serves a packed chart. */
async function startChartServer(): Promise<AsyncDisposable & { readonly archive: object }> {
  const [folder, archive] = [join(operator.directory, 'chart'), join(operator.directory, 'shop.tgz')]
  await writeTestChart(join(folder, 'shop'))
  await runProgram(['tar', '-czf', archive, '-C', folder, 'shop'])
  const bytes = await readFile(archive)
  await rm(archive)
  await rm(folder, { recursive: true })
  const server = createServer((_request, response) => response.end(bytes)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = z.object({ port: z.number() }).parse(server.address())
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return {
    archive: { url: `http://127.0.0.1:${port}/shop.tgz`, sha256 },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function blockConnections(host: Host, gatewayAddress: string): Promise<void> {
  await host.exec(['nft', '-f', '-'], {
    input: `table ip closed-in {
      chain output {
        type filter hook output priority -10;
        ip daddr ${gatewayAddress} ct state new reject
      }
    }`,
  })
}

async function readOutput(host: Host, script: string): Promise<string> {
  return (await host.script(script, { allowFailure: true })).stdout.trim()
}

test('hosts reach only each other', async () => {
  for (const host of hosts) {
    const { code } = await host.exec(['curl', '-sS', '--max-time', '5', `${mirror}/v2/`], {
      allowFailure: true,
    })
    expect(code, host.name).not.toBe(0)
  }
})

test('the bundle verifies, and the lock is unchanged', async () => {
  const verified = await operator.must(0, 'bundle', 'verify', '-o', 'json')
  expect(summary.omit({ size: true }).parse(JSON.parse(verified.stdout)).kind).toBe('BundleSummary')
  expect((await operator.must(0, 'lock', '--check')).stdout).toContain('no changes')
})

test('a bundle with a flipped byte is refused by verify and up, and no host receives it', async () => {
  const whole = await readFile(join(operator.directory, bundle))
  const flipped = Buffer.from(whole)
  // Selects a byte in the content of an artifact: 100,000 bytes after the first match. The first match is in
  // the manifest or directly after it.
  const offset = flipped.indexOf('artifacts/linux-') + 100_000
  flipped.writeUInt8(flipped.readUInt8(offset) ^ 1, offset)
  await writeFile(join(operator.directory, 'flipped.bundle'), flipped)
  const refused = await operator.must(1, 'bundle', 'verify', join(operator.directory, 'flipped.bundle'))
  expect(refused.stderr).toContain('BUNDLE_DAMAGED')
  await operator.edit((document) => document.setIn(['spec', 'artifacts', 'bundle'], 'flipped.bundle'))
  const up = await operator.must(1, 'up', '--yes')
  expect(up.stderr).toContain('BUNDLE_DAMAGED')
  // The name of an uploaded file is its digest, so a damaged upload would not match its name.
  for (const host of hosts) {
    const wrong = `cd /var/lib/hyperkube/agent/delivered/files; sha256sum * 2>/dev/null | awk '$1 != $2'`
    expect(await readOutput(host, wrong), host.name).toBe('')
  }
  await operator.edit((document) => document.setIn(['spec', 'artifacts', 'bundle'], bundle))
}, 300_000)

test('up installs the cluster and its addons without any download', async () => {
  const up = await operator.hyperkube('up', '--yes')
  expect(up.code, up.stderr).toBe(0)
  for (const host of hosts) {
    // Uploads are removed after use.
    expect(await readOutput(host, 'ls -A /var/lib/hyperkube/agent/delivered 2>&1')).toContain('No such file')
    expect(await readOutput(host, 'journalctl -u containerd | grep PullImage'), host.name).toBe('')
  }
}, 900_000)

test('the chart of the bundle is installed, without its server', async () => {
  const { stdout } = await operator.must(0, 'addon', 'list', '-o', 'json')
  const { addons } = z
    .object({
      addons: z.array(z.object({ name: z.string(), state: z.string(), version: z.string().optional() })),
    })
    .parse(JSON.parse(stdout))
  expect(addons.find(({ name }) => name === 'shop')).toMatchObject({
    state: 'ready',
    version: testChartVersion,
  })
})

test('every image is pinned by name and by digest on every host', async () => {
  const { stdout } = await operator.must(0, 'images', 'list', '-o', 'json')
  const { items } = z
    .object({ items: z.array(z.object({ image: z.string(), digest: z.string() })).min(6) })
    .parse(JSON.parse(stdout))
  for (const host of hosts) {
    for (const { image, digest } of items) {
      for (const name of [image, `${image}@${digest}`]) {
        const status = await readOutput(
          host,
          `/opt/hyperkube/crictl-*/crictl inspecti -o json '${name}' | tr -d ' \\n'`,
        )
        expect(status, `${host.name} ${name}`).toContain('"pinned":true')
        expect(status).toContain(digest)
      }
    }
  }
})

test('a second up has nothing to do, and a removed image is restored', async () => {
  expect((await operator.hyperkube('plan')).code).toBe(0)
  const [, worker] = hosts
  if (worker === undefined) throw new Error('there is no worker')
  const ctr = '/opt/hyperkube/containerd-*/ctr -n k8s.io images'
  await readOutput(worker, `${ctr} rm $(${ctr} ls -q | grep busybox)`)
  expect((await operator.hyperkube('plan')).code).toBe(3)
  await operator.must(0, 'up', '--yes')
  expect(await readOutput(worker, `${ctr} ls -q | grep -c 'busybox[:@]'`)).toBe('2')
}, 300_000)
