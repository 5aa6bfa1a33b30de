import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubeconfigFile } from '../../lab/bench/bare-cluster.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { until } from '../../src/kit/poll-until.ts'
import { ApiLoad, type Load } from '../support/api-load.ts'
import { bareCluster, type Cluster } from '../support/kubectl-cluster.ts'
import { credentialsIn } from '../support/kubeconfig.ts'
import { freshLab } from '../support/lab.ts'
import { installProgram } from '../support/program.ts'
import { more, outage, ProxiedApi, type Seen, serverOf, signal } from '../support/proxied-api.ts'

const perSecond = 200

let lab: Lab
let cluster: Cluster
let proxied: ProxiedApi

beforeAll(async () => {
  lab = await freshLab('proxy')
  cluster = await bareCluster(lab, '3+1')
  const worker = await lab.host('w1')
  const servers = (await lab.hosts()).filter(({ name }) => name.startsWith('cp'))
  const credentials = credentialsIn(await readFile(kubeconfigFile(lab), 'utf8'))
  await ApiLoad.prepare(cluster.api)
  await installProgram([worker])
  proxied = new ProxiedApi(worker, servers, credentials)
  await proxied.start()
}, 900_000)
afterAll(async () => {
  try {
    cluster.api.close()
  } finally {
    await lab.down()
  }
})

async function under(title: string, host: Host, fault: (load: Load) => Promise<void>): Promise<Seen> {
  return proxied.under(title, perSecond, host, fault)
}

function serverNamed(name: string): Host {
  const host = proxied.servers.find((one) => one.name === name)
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
  for (const host of proxied.servers) {
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

test('learns all servers, and keeps them', async () => {
  await proxied.allWell()
  const { servers } = proxied
  await until('the memory', async () => (await proxied.kept()).length === servers.length, { within: 60_000 })
  expect(await proxied.kept()).toEqual(servers.map(serverOf).toSorted())
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
      await proxied.health(host, 'unwell')
    })
    expect(outage(seen)).toEqual([])
  })

  test('when an API server hangs for ten seconds', async () => {
    const host = serverNamed('cp2')
    const seen = await under('SIGSTOP', host, async (load) => {
      await signal(host, 'STOP')
      try {
        await proxied.health(host, 'unwell')
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
    // A host that is lost is lost to all at once; here the node comes first.
    const others = [proxied.node, ...proxied.servers.filter((one) => one !== host)]
    const seen = await under('lost host', host, async (load) => {
      await lab.partition(host, others)
      try {
        await proxied.health(host, 'unwell')
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
      await lab.partition(host, [proxied.node])
      try {
        await proxied.health(host, 'unwell')
        await more(load, 5 * perSecond)
      } finally {
        await lab.rejoin()
      }
    })
    expect(outage(seen)).toEqual([])
  })
})

test('takes little memory', async () => {
  const { stdout } = await proxied.node.exec(['cat', `/proc/${await proxied.pid()}/smaps_rollup`])
  const [, pss = ''] = /^Pss_Anon:\s+(\d+) kB/m.exec(stdout) ?? []
  process.stderr.write(`memory of its own after all that: ${pss} kB\n`)
  // Much of it is what a busy machine has not cleared away yet.
  expect(Number(pss)).toBeLessThan(64 * 1024)
})

test('ends well when it is told to, and finds the cluster again when all it was told of is gone', async () => {
  await proxied.stop()
  const said = await proxied.journal()
  expect(said).toContain('stopping')
  expect(said).not.toMatch(/Failed with result|status=/)
  const gone = serverOf(proxied.node)
  await proxied.start([gone])
  await proxied.allWell()
  expect((await proxied.status()).servers.map(({ server }) => server)).toEqual([
    gone,
    ...proxied.servers.map(serverOf).toSorted(),
  ])
})
