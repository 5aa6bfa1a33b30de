import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseDocument, stringify } from 'yaml'
import { cacheDirectory } from '../../lab/cache.ts'
import { selectParts } from '../../lab/engine/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { clusterDocument } from '../../lab/hyperkube/cluster-document.ts'
import { openMirror } from '../../lab/mirror/open.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { silentReport } from '../../lab/report.ts'
import { buildExecutable, ownTarget } from '../../scripts/executable.ts'
import { settleAll } from '../../src/kit/settle.ts'
import { until } from '../../src/kit/until.ts'
import { freshLab } from '../support/lab.ts'
import { screen } from '../support/screen.ts'
import { type Seen, Typist } from '../support/typist.ts'

/**
 * What a person sees when something is wrong, each as a file to be read: what it is, on which host, and what to type
 * next. One pair of hosts goes through most of it, from nothing to a cluster, and three control planes through what one
 * alone cannot show; so the tests stand in an order.
 */
const kubernetes = '1.36.4'
/** What depends on the machine that the lab is on. */
const ofTheLab = ['HOST_CGROUP_V1', 'HOST_NO_RESOLVER', 'HOST_MEMORY_SMALL', 'HOST_CPU_SMALL']
const up = ['up', '--yes', '--ignore', ofTheLab.join(',')] as const

let lab: Lab
let cp1: Host
let w1: Host
let mirror: Mirror
/** Where all is that the suite has made, and in it where the cluster.yml is that commands are typed beside. */
let root: string
let directory: string
let typist: Typist
let program: string

beforeAll(async () => {
  lab = await freshLab('faults')
  const [first, second] = await lab.up(['cp1', 'w1'], { disk: 'loop', diskGigabytes: 12 })
  if (first === undefined || second === undefined) throw new Error('two hosts were asked for')
  cp1 = first
  w1 = second
  root = await mkdtemp(join(tmpdir(), 'faults-'))
  await mkdir(join(root, 'over'))
  mirror = await openMirror(lab, {
    parts: selectParts(),
    cache: cacheDirectory(),
    report: silentReport,
    port: 0,
    over: join(root, 'over'),
  })
  program = await buildExecutable(ownTarget(), root)
  await sitDown('pair')
})
afterAll(async () => {
  try {
    await mirror.close()
    await rm(root, { recursive: true, force: true })
  } finally {
    await lab.down()
  }
})

/** Commands are typed in this directory from now on. */
async function sitDown(name: string): Promise<void> {
  directory = join(root, name)
  await mkdir(directory)
  typist = new Typist(program, directory)
}

/** Writes cluster.yml as it should be, but for some settings. */
async function describeCluster(
  settings: Readonly<Record<string, unknown>> = {},
  hosts: readonly Host[] = [cp1, w1],
): Promise<void> {
  const document = parseDocument(stringify(clusterDocument(kubernetes, mirror.address, hosts)))
  for (const [path, value] of Object.entries(settings)) document.setIn(path.split('.'), value)
  await writeFile(join(directory, 'cluster.yml'), String(document))
}

async function expectScreen(name: string, code: number, seen: Seen): Promise<void> {
  await expect(screen(seen, directory)).toMatchFileSnapshot(`./testdata/faults/${name}.txt`)
  expect(seen.code).toBe(code)
}

async function onBoth(text: string): Promise<void> {
  await settleAll([cp1, w1].map(async (host) => host.script(text)))
}

async function apiAnswers(host: Host): Promise<void> {
  await until(
    `the API server of ${host.name}`,
    async () => {
      const url = 'https://127.0.0.1:6443/readyz'
      return (await host.exec(['curl', '-sk', url], { allowFailure: true })).stdout === 'ok'
    },
    { within: 120_000 },
  )
}

async function isActive(host: Host, service: string): Promise<void> {
  await until(
    `${service} on ${host.name}`,
    async () => (await host.exec(['systemctl', 'is-active', service], { allowFailure: true })).code === 0,
    { within: 120_000 },
  )
}

describe('before any host is asked', () => {
  test('in the wrong directory', async () => {
    const elsewhere = join(directory, 'elsewhere')
    await mkdir(elsewhere)
    await expectScreen('no-cluster-yml', 1, await new Typist(program, elsewhere).hyperkube('up'))
  })

  test('without cluster.identity, without cluster.lock, without the key', async () => {
    await describeCluster()
    await expectScreen('no-lock', 1, await typist.hyperkube('up'))
    expect((await typist.hyperkube('lock')).code).toBe(0)
    await expectScreen('no-identity', 1, await typist.hyperkube('up'))
    expect((await typist.hyperkube('init')).code).toBe(0)
    const key = join(directory, 'hyperkube/keys/lab.key')
    await rename(key, `${key}.away`)
    await expectScreen('no-key', 1, await typist.hyperkube('up'))
    await rename(`${key}.away`, key)
  })
})

describe('on the way to hosts', () => {
  test('a user who is not root and cannot become root', async () => {
    const key = (await readFile(`${cp1.ssh.keyFile}.pub`, 'utf8')).trim()
    await onBoth(`
      useradd -m -s /bin/sh kim
      install -d -o kim -m 700 /home/kim/.ssh
      echo '${key}' > /home/kim/.ssh/authorized_keys
      chown kim /home/kim/.ssh/authorized_keys
      echo 'kim ALL=(ALL) ALL' > /etc/sudoers.d/kim`)
    await describeCluster({ 'spec.ssh.user': 'kim' })
    await expectScreen('sudo-password', 1, await typist.hyperkube(...up))
    await onBoth('mv /usr/bin/sudo /usr/bin/sudo.away')
    await expectScreen('no-sudo', 1, await typist.hyperkube(...up))
    await onBoth('mv /usr/bin/sudo.away /usr/bin/sudo')
    await describeCluster()
  })

  test('the only control plane does not answer', async () => {
    await cp1.setUnheard([lab.gateway])
    await expectScreen('only-control-plane-away', 1, await typist.hyperkube(...up))
    await cp1.setUnheard([])
    await cp1.connect()
  })

  test('a host with another key', async () => {
    await w1.script(`
      cd /etc/ssh
      rm ssh_host_*
      ssh-keygen -q -t ed25519 -N '' -f ssh_host_ed25519_key
      systemctl restart ssh`)
    const { stdout } = await w1.exec(['cat', '/etc/ssh/ssh_host_ed25519_key.pub'])
    await writeFile(w1.ssh.knownHosts, `${w1.address} ${stdout}`)
    await expectScreen('host-key-changed', 1, await typist.hyperkube(...up))
  })
})

describe('when hosts have answered', () => {
  test('a copy of another host, once its new key was taken', async () => {
    const { stdout: own } = await w1.exec(['cat', '/etc/machine-id'])
    const { stdout: other } = await cp1.exec(['cat', '/etc/machine-id'])
    await w1.script(`echo '${other.trim()}' > /etc/machine-id; hostname cp1`)
    await expectScreen('copy', 1, await typist.hyperkube(...up, '--forget-host-key', 'w1'))
    await w1.script(`echo '${own.trim()}' > /etc/machine-id; hostname w1`)
  })

  test('ports that somebody else listens on', async () => {
    const takers = [
      [cp1, 6443],
      [w1, 10_250],
    ] as const
    for (const [host, port] of takers) {
      await host.script(`systemd-run -q --unit=taker socat TCP-LISTEN:${port},fork,reuseaddr EXEC:cat`)
      await until(
        `port ${port}`,
        async () => (await host.exec(['ss', '-Htln', 'sport', '=', `:${port}`])).stdout !== '',
        { within: 10_000 },
      )
    }
    await expectScreen('ports', 1, await typist.hyperkube(...up))
    await onBoth('systemctl stop taker')
  })
})

describe('while hosts are at work', () => {
  test('a file in the mirror that is not what cluster.lock says', async () => {
    const path = `dl.k8s.io/release/v${kubernetes}/bin/linux/amd64/kubelet`
    const file = join(root, 'over', path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, 'something else')
    await expectScreen('wrong-checksum', 1, await typist.hyperkube(...up))
    await expectScreen('wrong-checksum-at-a-terminal', 1, await typist.atTerminal(...up))
    await rm(file)
  })

  test('a disk that gets full', async () => {
    await w1.script('fallocate -l 50M /var/spare')
    await w1.fillDisk()
    await w1.exec(['rm', '/var/spare'])
    const seen = await typist.hyperkube(...up)
    // Which of the downloads is the first to find no room is a matter of luck.
    const text = seen.text.replace(
      /w1\/[\w-]+: (APPLY_DISK_FULL): create artifact [\w-.]+:/,
      'w1/ANY: $1: ANY:',
    )
    await expectScreen('disk-full', 1, { ...seen, text })
    await w1.fillDisk()
    await expectScreen('disk-full-before', 1, await typist.hyperkube(...up))
    await w1.emptyDisk()
  })

  test('Ctrl-C', async () => {
    const running = typist.begin(...up)
    await running.saw('] preparation')
    running.signal('SIGINT')
    await expectScreen('interrupted', 130, await running.ended)
  })

  test('a service that does not start, and a second operator meanwhile', async () => {
    await describeCluster({ 'spec.components.etcd': { args: { 'heartbeat-interval': '5000' } } })
    const running = typist.begin(...up)
    await running.saw('waiting for etcd.service to run')
    await expectScreen('claim-held', 1, await typist.hyperkube(...up))
    const seen = await running.ended
    const log = seen.text.match(/^ {4}│ .*\n/gm) ?? []
    expect(log).toHaveLength(20)
    const reason = log.find((line) => line.includes('election-timeout'))
    // Where in its turns of starting and ending the last twenty lines begin is a matter of luck.
    const text = seen.text
      .replace(log.join(''), `    │ …\n${reason}    │ …\n`)
      .replaceAll(/ended \d+ times/g, 'ended N times')
    await expectScreen('service-fails', 1, { ...seen, text })
    await describeCluster()
  }, 240_000)

  test('a claim that is taken by force, by somebody who has no patience', async () => {
    const first = typist.begin(...up)
    await first.saw('cp1/etcd: ')
    // As somebody who has closed their laptop.
    first.signal('SIGSTOP')
    await apiAnswers(cp1)
    const second = typist.begin(...up, '--force-unlock')
    await second.saw('] controllers')
    // So that it cannot finish what it is at.
    await cp1.exec(['systemctl', 'kill', '--signal=SIGSTOP', 'hyperkube-agent'])
    second.signal('SIGINT')
    await second.saw('Ctrl-C once more')
    second.signal('SIGINT')
    await expectScreen('interrupted-twice', 130, await second.ended)
    await cp1.exec(['systemctl', 'kill', '--signal=SIGCONT', 'hyperkube-agent'])
    first.signal('SIGCONT')
    await expectScreen('claim-lost', 1, await first.ended)
  })

  test('a worker that does not answer, and is brought along once it does', async () => {
    expect((await typist.hyperkube(...up)).code).toBe(0)
    await w1.setUnheard([lab.gateway])
    await describeCluster({ 'spec.components.kubelet.args': { v: '3' } })
    await expectScreen('worker-away', 3, await typist.hyperkube(...up))
    await w1.setUnheard([])
    await expectScreen('worker-back', 0, await typist.hyperkube(...up))
    await describeCluster()
  }, 240_000)
})

describe('with three control planes', () => {
  let hosts: readonly Host[]
  let cp2: Host
  let cp3: Host
  /** For which every API server restarts. */
  const changed = { 'spec.components.apiServer': { args: { 'max-requests-inflight': '500' } } }

  beforeAll(async () => {
    await lab.clear()
    hosts = await lab.up(['cp1', 'cp2', 'cp3'], { disk: 'loop', diskGigabytes: 12 })
    const [first, second, third] = hosts
    if (first === undefined || second === undefined || third === undefined) {
      throw new Error('three hosts were asked for')
    }
    cp1 = first
    cp2 = second
    cp3 = third
    await sitDown('three')
    await describeCluster({}, hosts)
  })

  test('one does not answer when the cluster is founded', async () => {
    expect((await typist.hyperkube('lock')).code).toBe(0)
    expect((await typist.hyperkube('init')).code).toBe(0)
    await cp3.setUnheard([lab.gateway])
    await expectScreen('founding-member-away', 1, await typist.hyperkube(...up))
    await cp3.setUnheard([])
    const { code, text } = await typist.hyperkube(...up)
    expect(code, text).toBe(0)
  }, 600_000)

  test('nobody hears of one any more: etcd does not restart', async () => {
    await cp3.setUnheard([lab.gateway, cp1.address, cp2.address])
    await describeCluster({ 'spec.components.etcd': { args: { 'heartbeat-interval': '200' } } }, hosts)
    await expectScreen('control-plane-away-etcd', 1, await typist.hyperkube(...up))
  })

  test('all else goes on without it', async () => {
    await describeCluster(changed, hosts)
    await expectScreen('control-plane-away', 3, await typist.hyperkube(...up))
  }, 300_000)

  test('a second one does not answer', async () => {
    await cp2.setUnheard([lab.gateway])
    await expectScreen('two-control-planes-away', 1, await typist.hyperkube(...up))
    await cp2.setUnheard([])
  })

  test('it is brought along once it is back', async () => {
    await cp3.setUnheard([])
    await cp3.connect()
    await until(
      'the API server of cp3',
      async () => (await cp3.script('curl -fsk https://127.0.0.1:6443/readyz || true')).stdout === 'ok',
      { within: 120_000 },
    )
    for (const service of ['etcd', 'kube-controller-manager', 'kube-scheduler']) await isActive(cp3, service)
    await expectScreen('control-plane-back', 0, await typist.hyperkube(...up))
  }, 300_000)
})
