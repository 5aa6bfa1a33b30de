import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { kubeconfigFile } from '../../lab/bench/bare-cluster.ts'
import type { Credentials } from '../../lab/cluster/kube-api.ts'
import { sendFiles } from '../../lab/cluster/send.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import { until } from '../../src/kit/until.ts'
import { ApiLoad, type LoadFigures } from '../support/api-load.ts'
import { bareCluster, type Cluster } from '../support/cluster.ts'
import { freshLab } from '../support/lab.ts'

const perSecond = 200
const directory = 'etc/apiserver-proxy'
const memory = '/var/lib/apiserver-proxy/servers.json'

let lab: Lab
let cluster: Cluster
let credentials: Credentials
let worker: Host
let servers: Host[]

beforeAll(async () => {
  const program = await builtProgram()
  lab = await freshLab('proxy')
  cluster = await bareCluster(lab, '3+1')
  worker = await lab.host('w1')
  servers = (await lab.hosts()).filter(({ name }) => name.startsWith('cp'))
  credentials = await adminCredentials()
  for (const name of ApiLoad.names) {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }
    await cluster.api.ensure('/api/v1/namespaces/default/configmaps', body)
  }
  await worker.exec(['sh', '-c', 'cat > /usr/local/bin/hyperkube && chmod 755 /usr/local/bin/hyperkube'], {
    input: program,
  })
  await startProxy(servers.map(addressOf))
}, 900_000)
afterAll(async () => {
  try {
    cluster.api.close()
  } finally {
    await lab.down()
  }
})

const addressOf = ({ address }: Host): string => `${address}:6443`

const kubeconfigSchema = z.looseObject({
  clusters: z.tuple([
    z.looseObject({ cluster: z.looseObject({ 'certificate-authority-data': z.base64() }) }),
  ]),
  users: z.tuple([
    z.looseObject({
      user: z.looseObject({ 'client-certificate-data': z.base64(), 'client-key-data': z.base64() }),
    }),
  ]),
})

async function adminCredentials(): Promise<Credentials> {
  const config = kubeconfigSchema.parse(parse(await readFile(kubeconfigFile(lab), 'utf8')))
  const text = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
  const { user } = config.users[0]
  return {
    authority: text(config.clusters[0].cluster['certificate-authority-data']),
    certificate: text(user['client-certificate-data']),
    key: text(user['client-key-data']),
  }
}

async function builtProgram(): Promise<Uint8Array> {
  const work = await mkdtemp(join(tmpdir(), 'hyperkube-'))
  try {
    return await readFile(await buildExecutable(ownTarget(), work))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Like the plan's, but where this machine reaches it, and with the administrator's certificate. */
async function startProxy(configured: readonly string[]): Promise<void> {
  const config = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'ApiserverProxyConfiguration',
    listen: `${worker.address}:6444`,
    health: `${worker.address}:6445`,
    servers: configured,
    authority: `/${directory}/ca.crt`,
    credentials: { certificate: `/${directory}/client.crt`, privateKey: `/${directory}/client.key` },
    memory,
  }
  await sendFiles(worker, {
    [`${directory}/config.json`]: JSON.stringify(config),
    [`${directory}/ca.crt`]: credentials.authority,
    [`${directory}/client.crt`]: credentials.certificate,
    [`${directory}/client.key`]: credentials.key,
  })
  await worker.script(`mkdir -p /var/lib/apiserver-proxy
    systemd-run --quiet --unit=apiserver-proxy --property=LimitNOFILE=65536 --property=RemainAfterExit=yes \\
      /usr/local/bin/hyperkube apiserver-proxy --config=/${directory}/config.json`)
}

const memorySchema = z.looseObject({ servers: z.array(z.string()) })
const statusSchema = z.looseObject({
  connections: z.int(),
  servers: z.array(
    z.looseObject({
      server: z.string(),
      health: z.string(),
      connections: z.int(),
      reason: z.string().optional(),
    }),
  ),
})

async function status(): Promise<z.infer<typeof statusSchema>> {
  const answer = await fetch(`http://${worker.address}:6445/healthz`)
  return statusSchema.parse(await answer.json())
}

async function health(host: Host, wanted: string): Promise<void> {
  const seen = async (): Promise<boolean> =>
    (await status()).servers.some(({ server, health: now }) => server === addressOf(host) && now === wanted)
  await until(`${host.name} to be ${wanted}`, seen, { within: 90_000, every: 100 })
}

async function allWell(): Promise<void> {
  for (const host of servers) await health(host, 'well')
}

/** What clients have seen through the proxy, and at the same time others who asked a server that was left in peace. */
interface Seen {
  readonly figures: LoadFigures
  readonly control: LoadFigures
}

/** Load before, during and after something happens to a server. */
async function under(title: string, host: Host, fault: (load: ApiLoad) => Promise<void>): Promise<Seen> {
  await allWell()
  const peaceful = servers.find((one) => one !== host)?.address ?? ''
  const load = new ApiLoad({ host: worker.address, port: 6444, credentials }, perSecond)
  const control = new ApiLoad({ host: peaceful, port: 6443, credentials }, perSecond / 10)
  load.start()
  control.start()
  const stop = async (): Promise<Seen> => {
    const [figures, direct] = await Promise.all([load.stop(), control.stop()])
    process.stderr.write(`${title}: ${JSON.stringify(figures)}\n`)
    process.stderr.write(`  directly: median ${direct.median} ms, worst ${direct.worst} ms\n`)
    return { figures, control: direct }
  }
  try {
    await more(load, 3 * perSecond)
    await fault(load)
    await allWell()
    await more(load, 3 * perSecond)
  } catch (error) {
    await stop()
    throw error
  }
  return stop()
}

async function more(load: ApiLoad, requests: number): Promise<void> {
  const enough = load.requests + requests
  await until('answers', async () => load.requests >= enough, { within: 60_000, every: 50 })
}

function serverNamed(name: string): Host {
  const host = servers.find((one) => one.name === name)
  if (host === undefined) throw new Error(`there is no ${name}`)
  return host
}

/** One whose loss stops no write: while etcd looks for a new leader, nobody could do anything about it. */
async function etcdFollower(): Promise<Host> {
  const pki = '/etc/kubernetes/pki'
  const credential = [
    '--cacert',
    `${pki}/etcd-ca.crt`,
    '--cert',
    `${pki}/etcd.crt`,
    '--key',
    `${pki}/etcd.key`,
  ]
  for (const host of servers) {
    const { stdout } = await host.exec([
      'etcdctl',
      ...['--endpoints', 'https://127.0.0.1:2379', ...credential],
      ...['endpoint', 'status', '--write-out', 'json'],
    ])
    // As text: they are larger than our numbers.
    const [, leader] = /"leader":(\d+)/.exec(stdout) ?? []
    const [, member] = /"member_id":(\d+)/.exec(stdout) ?? []
    if (leader !== undefined && leader !== member) return host
  }
  throw new Error('etcd has no follower')
}

async function signal(host: Host, name: string): Promise<void> {
  await host.exec(['systemctl', 'kill', `--signal=${name}`, 'kube-apiserver'])
}

/**
 * What no client should see, whatever happens to one of three servers: requests that are lost, or wait for long. What
 * those took who asked directly, the machine and its disk took, and not the proxy.
 */
function outage({ figures: { failed, worst, watchGap }, control }: Seen): string[] {
  const most = 2000 + control.worst
  return [
    ...failed,
    ...(worst < most ? [] : [`a request took ${worst} ms`]),
    ...(watchGap < most ? [] : [`a watch saw nothing for ${watchGap} ms`]),
  ]
}

test('learns all servers, and keeps them', async () => {
  await allWell()
  const kept = async (): Promise<string[]> => {
    const { stdout } = await worker.exec(['cat', memory])
    return memorySchema.parse(JSON.parse(stdout)).servers
  }
  await until('the memory', async () => (await kept()).length === servers.length, { within: 60_000 })
  expect(await kept()).toEqual(servers.map(addressOf).toSorted())
})

describe('no request is lost, and none waits for long,', () => {
  test('with nothing wrong', async () => {
    const seen = await under('nothing', serverNamed('cp1'), async (load) => more(load, 10 * perSecond))
    expect(outage(seen)).toEqual([])
    expect(seen.figures).toMatchObject({ retried: 0, throttled: 0, watchBreaks: 0 })
  })

  test('when an API server is killed', async () => {
    const host = serverNamed('cp1')
    const seen = await under('SIGKILL', host, async () => {
      await signal(host, 'KILL')
      await health(host, 'unwell')
    })
    expect(outage(seen)).toEqual([])
  })

  test('when an API server hangs for ten seconds', async () => {
    const host = serverNamed('cp2')
    const seen = await under('SIGSTOP', host, async (load) => {
      await signal(host, 'STOP')
      try {
        await health(host, 'unwell')
        await more(load, 10 * perSecond)
      } finally {
        await signal(host, 'CONT')
      }
    })
    expect(outage(seen)).toEqual([])
  })

  test('when an API server is stopped as the engine starts it: without a delay', async () => {
    const host = serverNamed('cp3')
    const seen = await under('stop', host, async () => {
      await host.exec(['systemctl', 'restart', 'kube-apiserver'])
    })
    expect(outage(seen)).toEqual([])
  })

  test('when an API server is stopped as our plan starts it: with a delay', async () => {
    const host = serverNamed('cp3')
    // Not the lab's way; the flags are those of src/plan/linux/kube-apiserver.ts.
    await host.script(`sed -i 's/--profiling=false/--profiling=false --shutdown-delay-duration=15s/' \
        /etc/systemd/system/kube-apiserver.service
      systemctl daemon-reload
      systemctl restart kube-apiserver`)
    const seen = await under('stop with delay', host, async () => {
      await host.exec(['systemctl', 'restart', 'kube-apiserver'])
    })
    expect(outage(seen)).toEqual([])
  })

  test('when the network loses one of them', async () => {
    const host = await etcdFollower()
    const others = (await lab.hosts()).filter(({ name }) => name !== host.name)
    const seen = await under('lost host', host, async (load) => {
      await lab.partition(host, others)
      try {
        await health(host, 'unwell')
        await more(load, 5 * perSecond)
      } finally {
        await lab.rejoin()
      }
    })
    expect(outage(seen)).toEqual([])
  })

  test('when a node no longer reaches one of them', async () => {
    const host = serverNamed('cp2')
    const seen = await under('partition', host, async (load) => {
      await lab.partition(host, [worker])
      try {
        await health(host, 'unwell')
        await more(load, 5 * perSecond)
      } finally {
        await lab.rejoin()
      }
    })
    expect(outage(seen)).toEqual([])
  })
})

test('takes little memory', async () => {
  const { stdout } = await worker.script(
    'grep -E "^(VmRSS|RssAnon|RssFile)" /proc/$(systemctl show -P MainPID apiserver-proxy)/status',
  )
  process.stderr.write(`memory after all that: ${stdout.replaceAll(/\s+/g, ' ')}\n`)
  const [, anonymous = ''] = /RssAnon:\s+(\d+) kB/.exec(stdout) ?? []
  // Much of it is what a busy machine has not cleared away yet.
  expect(Number(anonymous)).toBeLessThan(128 * 1024)
})

test('ends well when it is told to, and finds the cluster again when all it was told of is gone', async () => {
  await worker.exec(['systemctl', 'stop', 'apiserver-proxy'])
  const { stdout } = await worker.exec(['journalctl', '--unit=apiserver-proxy', '--output=cat'])
  expect(stdout).toContain('stopping')
  expect(stdout).not.toMatch(/Failed with result|status=/)
  const gone = `${worker.address}:6443`
  await startProxy([gone])
  await allWell()
  expect((await status()).servers.map(({ server }) => server)).toEqual([
    gone,
    ...servers.map(addressOf).toSorted(),
  ])
})
