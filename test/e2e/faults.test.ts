import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/settle-all.ts'
import { until } from '../../src/kit/poll-until.ts'
import { apiAnswers, expectScreen, FaultScene, kubernetes, up } from '../support/fault-lab.ts'
import { Typist } from '../support/terminal.ts'

/**
 * What a person sees when something is wrong, each as a file to be read: what it is, on which host, and what to type
 * next. One pair of hosts goes through it, from nothing to a cluster, so the tests stand in an order. What takes three
 * control planes is in the full suite.
 */
let scene: FaultScene
let cp1: Host
let w1: Host

beforeAll(async () => {
  scene = await FaultScene.open('faults', ['cp1', 'w1'])
  cp1 = scene.host('cp1')
  w1 = scene.host('w1')
})
afterAll(async () => scene[Symbol.asyncDispose]())

async function onBoth(text: string): Promise<void> {
  await settleAll([cp1, w1].map(async (host) => host.script(text)))
}

describe('before any host is asked', () => {
  test('in the wrong directory', async () => {
    const elsewhere = join(scene.directory, 'elsewhere')
    await mkdir(elsewhere)
    await expectScreen(scene, 'no-cluster-yml', 1, await new Typist(scene.program, elsewhere).hyperkube('up'))
  })

  test('without cluster.identity, without cluster.lock, without the key', async () => {
    await scene.describeCluster()
    await expectScreen(scene, 'no-lock', 1, await scene.typist.hyperkube('up'))
    expect((await scene.typist.hyperkube('lock')).code).toBe(0)
    await expectScreen(scene, 'no-identity', 1, await scene.typist.hyperkube('up'))
    expect((await scene.typist.hyperkube('init')).code).toBe(0)
    const key = join(scene.directory, 'hyperkube/keys/lab.key')
    await rename(key, `${key}.away`)
    await expectScreen(scene, 'no-key', 1, await scene.typist.hyperkube('up'))
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
    await scene.describeCluster({ 'spec.ssh.user': 'kim' })
    await expectScreen(scene, 'sudo-password', 1, await scene.typist.hyperkube(...up))
    await onBoth('mv /usr/bin/sudo /usr/bin/sudo.away')
    await expectScreen(scene, 'no-sudo', 1, await scene.typist.hyperkube(...up))
    await onBoth('mv /usr/bin/sudo.away /usr/bin/sudo')
    await scene.describeCluster()
  })

  test('the only control plane does not answer', async () => {
    await cp1.setUnheard([scene.lab.gateway])
    await expectScreen(scene, 'only-control-plane-away', 1, await scene.typist.hyperkube(...up))
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
    await expectScreen(scene, 'host-key-changed', 1, await scene.typist.hyperkube(...up))
  })
})

describe('when hosts have answered', () => {
  test('a copy of another host, once its new key was taken', async () => {
    const { stdout: own } = await w1.exec(['cat', '/etc/machine-id'])
    const { stdout: other } = await cp1.exec(['cat', '/etc/machine-id'])
    await w1.script(`echo '${other.trim()}' > /etc/machine-id; hostname cp1`)
    await expectScreen(scene, 'copy', 1, await scene.typist.hyperkube(...up, '--forget-host-key', 'w1'))
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
    await expectScreen(scene, 'ports', 1, await scene.typist.hyperkube(...up))
    await onBoth('systemctl stop taker')
  })
})

describe('while hosts are at work', () => {
  test('a file in the mirror that is not what cluster.lock says', async () => {
    const path = `dl.k8s.io/release/v${kubernetes}/bin/linux/amd64/kubelet`
    const file = join(scene.over, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, 'something else')
    await expectScreen(scene, 'wrong-checksum', 1, await scene.typist.hyperkube(...up))
    await expectScreen(scene, 'wrong-checksum-at-a-terminal', 1, await scene.typist.atTerminal(...up))
    await rm(file)
  })

  test('a disk that gets full', async () => {
    await w1.script('fallocate -l 50M /var/spare')
    await w1.fillDisk()
    await w1.exec(['rm', '/var/spare'])
    const seen = await scene.typist.hyperkube(...up)
    // Which of the downloads is the first to find no room is a matter of luck.
    const text = seen.text.replace(
      /w1\/[\w-]+: (APPLY_DISK_FULL): create artifact [\w-.]+:/,
      'w1/ANY: $1: ANY:',
    )
    await expectScreen(scene, 'disk-full', 1, { ...seen, text })
    await w1.fillDisk()
    await expectScreen(scene, 'disk-full-before', 1, await scene.typist.hyperkube(...up))
    await w1.emptyDisk()
  })

  test('Ctrl-C', async () => {
    const running = scene.typist.begin(...up)
    await running.saw('] preparation')
    running.signal('SIGINT')
    await expectScreen(scene, 'interrupted', 130, await running.ended)
  })

  test('a service that does not start, and a second operator meanwhile', async () => {
    await scene.describeCluster({ 'spec.components.etcd': { args: { 'heartbeat-interval': '5000' } } })
    const running = scene.typist.begin(...up)
    await running.saw('waiting for etcd.service to run')
    await expectScreen(scene, 'claim-held', 1, await scene.typist.hyperkube(...up))
    const seen = await running.ended
    const log = seen.text.match(/^ {4}│ .*\n/gm) ?? []
    expect(log).toHaveLength(20)
    const reason = log.find((line) => line.includes('election-timeout'))
    // Where in its turns of starting and ending the last twenty lines begin is a matter of luck.
    const text = seen.text
      .replace(log.join(''), `    │ …\n${reason}    │ …\n`)
      .replaceAll(/ended \d+ times/g, 'ended N times')
      .replaceAll(/activating, (?:start|auto-restart);/g, 'activating, …;')
    await expectScreen(scene, 'service-fails', 1, { ...seen, text })
    await scene.describeCluster()
  }, 240_000)

  test('a claim that is taken by force, by somebody who has no patience', async () => {
    const first = scene.typist.begin(...up)
    await first.saw('cp1/etcd: ')
    // As somebody who has closed their laptop.
    first.signal('SIGSTOP')
    await apiAnswers(cp1)
    const second = scene.typist.begin(...up, '--force-unlock')
    await second.saw('] controllers')
    // So that it cannot finish what it is at.
    await cp1.exec(['systemctl', 'kill', '--signal=SIGSTOP', 'hyperkube-agent'])
    second.signal('SIGINT')
    await second.saw('Ctrl-C once more')
    second.signal('SIGINT')
    await expectScreen(scene, 'interrupted-twice', 130, await second.ended)
    await cp1.exec(['systemctl', 'kill', '--signal=SIGCONT', 'hyperkube-agent'])
    first.signal('SIGCONT')
    await expectScreen(scene, 'claim-lost', 1, await first.ended)
  })

  test('a worker that does not answer, and is brought along once it does', async () => {
    expect((await scene.typist.hyperkube(...up)).code).toBe(0)
    await w1.setUnheard([scene.lab.gateway])
    await scene.describeCluster({ 'spec.components.kubelet.args': { v: '3' } })
    await expectScreen(scene, 'worker-away', 3, await scene.typist.hyperkube(...up))
    await w1.setUnheard([])
    await expectScreen(scene, 'worker-back', 0, await scene.typist.hyperkube(...up))
    await scene.describeCluster()
  }, 240_000)
})
