import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { expectGoldenOutput, FaultLab, kubernetes, upArgs, waitForApi } from '../support/fault-lab.ts'
import { Terminal } from '../support/terminal.ts'

/**
 * Lab with two hosts for all tests. After each fault, a test compares the output that an operator gets with a
 * golden file. The tests depend on their order. test/full has the faults that need three control planes.
 */
let faultLab: FaultLab
let cp1: Host
let w1: Host

beforeAll(async () => {
  faultLab = await FaultLab.open('faults', ['cp1', 'w1'])
  cp1 = faultLab.getHost('cp1')
  w1 = faultLab.getHost('w1')
})
afterAll(async () => faultLab[Symbol.asyncDispose]())

async function runOnBoth(text: string): Promise<void> {
  await settleAll([cp1, w1].map(async (host) => host.script(text)))
}

describe('before any connection to a host', () => {
  test('up reports a missing cluster.yml', async () => {
    const elsewhere = join(faultLab.directory, 'elsewhere')
    await mkdir(elsewhere)
    await expectGoldenOutput(
      faultLab,
      'no-cluster-yml',
      1,
      await new Terminal(faultLab.program, elsewhere).hyperkube('up'),
    )
  })

  test('up reports a missing cluster.lock, cluster.identity and key', async () => {
    await faultLab.writeClusterYaml()
    await expectGoldenOutput(faultLab, 'no-lock', 1, await faultLab.terminal.hyperkube('up'))
    expect((await faultLab.terminal.hyperkube('lock')).code).toBe(0)
    await expectGoldenOutput(faultLab, 'no-identity', 1, await faultLab.terminal.hyperkube('up'))
    expect((await faultLab.terminal.hyperkube('init')).code).toBe(0)
    const key = join(faultLab.directory, 'hyperkube/keys/lab.key')
    await rename(key, `${key}.away`)
    await expectGoldenOutput(faultLab, 'no-key', 1, await faultLab.terminal.hyperkube('up'))
    await rename(`${key}.away`, key)
  })
})

describe('connecting to hosts', () => {
  test('up reports a user without root permissions', async () => {
    const key = (await readFile(`${cp1.ssh.keyFile}.pub`, 'utf8')).trim()
    await runOnBoth(`
      useradd -m -s /bin/sh kim
      install -d -o kim -m 700 /home/kim/.ssh
      echo '${key}' > /home/kim/.ssh/authorized_keys
      chown kim /home/kim/.ssh/authorized_keys
      echo 'kim ALL=(ALL) ALL' > /etc/sudoers.d/kim`)
    await faultLab.writeClusterYaml({ 'spec.ssh.user': 'kim' })
    await expectGoldenOutput(faultLab, 'sudo-password', 1, await faultLab.terminal.hyperkube(...upArgs))
    await runOnBoth('mv /usr/bin/sudo /usr/bin/sudo.away')
    await expectGoldenOutput(faultLab, 'no-sudo', 1, await faultLab.terminal.hyperkube(...upArgs))
    await runOnBoth('mv /usr/bin/sudo.away /usr/bin/sudo')
    await faultLab.writeClusterYaml()
  })

  test('up reports an unreachable control plane', async () => {
    await cp1.setDroppedSources([faultLab.lab.gateway])
    await expectGoldenOutput(
      faultLab,
      'only-control-plane-unreachable',
      1,
      await faultLab.terminal.hyperkube(...upArgs),
    )
    await cp1.setDroppedSources([])
    await cp1.connect()
  })

  test('up reports a changed host key', async () => {
    await w1.script(`
      cd /etc/ssh
      rm ssh_host_*
      ssh-keygen -q -t ed25519 -N '' -f ssh_host_ed25519_key
      systemctl restart ssh`)
    const { stdout } = await w1.exec(['cat', '/etc/ssh/ssh_host_ed25519_key.pub'])
    await writeFile(w1.ssh.knownHosts, `${w1.address} ${stdout}`)
    await expectGoldenOutput(faultLab, 'host-key-changed', 1, await faultLab.terminal.hyperkube(...upArgs))
  })
})

describe('checks after connecting', () => {
  test('up reports a copied host', async () => {
    const { stdout: own } = await w1.exec(['cat', '/etc/machine-id'])
    const { stdout: other } = await cp1.exec(['cat', '/etc/machine-id'])
    await w1.script(`echo '${other.trim()}' > /etc/machine-id; hostname cp1`)
    await expectGoldenOutput(
      faultLab,
      'copy',
      1,
      await faultLab.terminal.hyperkube(...upArgs, '--forget-host-key', 'w1'),
    )
    await w1.script(`echo '${own.trim()}' > /etc/machine-id; hostname w1`)
  })

  test('up reports ports in use', async () => {
    const takers = [
      [cp1, 6443],
      [w1, 10_250],
    ] as const
    for (const [host, port] of takers) {
      await host.script(`systemd-run -q --unit=taker socat TCP-LISTEN:${port},fork,reuseaddr EXEC:cat`)
      await pollUntil(
        `port ${port}`,
        async () => (await host.exec(['ss', '-Htln', 'sport', '=', `:${port}`])).stdout !== '',
        { timeoutMs: 10_000 },
      )
    }
    await expectGoldenOutput(faultLab, 'ports', 1, await faultLab.terminal.hyperkube(...upArgs))
    await runOnBoth('systemctl stop taker')
  })
})

describe('applying plans', () => {
  test('up reports a file with a wrong checksum', async () => {
    const path = `dl.k8s.io/release/v${kubernetes}/bin/linux/amd64/kubelet`
    const file = join(faultLab.overrides, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, 'something else')
    await expectGoldenOutput(faultLab, 'wrong-checksum', 1, await faultLab.terminal.hyperkube(...upArgs))
    await expectGoldenOutput(
      faultLab,
      'wrong-checksum-at-a-terminal',
      1,
      await faultLab.terminal.runInTmux(...upArgs),
    )
    await rm(file)
  })

  test('up reports a full disk', async () => {
    await w1.script('fallocate -l 50M /var/spare')
    await w1.fillDisk()
    await w1.exec(['rm', '/var/spare'])
    const result = await faultLab.terminal.hyperkube(...upArgs)
    // The output does not always name the same artifact, because the download that fails first differs.
    const text = result.text.replace(
      /w1\/[\w-]+: (APPLY_DISK_FULL): create artifact [\w-.]+:/,
      'w1/ANY: $1: ANY:',
    )
    await expectGoldenOutput(faultLab, 'disk-full', 1, { ...result, text })
    await w1.fillDisk()
    await expectGoldenOutput(faultLab, 'disk-full-before', 1, await faultLab.terminal.hyperkube(...upArgs))
    await w1.emptyDisk()
  })

  test('up stops at Ctrl-C', async () => {
    const running = faultLab.terminal.start(...upArgs)
    await running.waitForOutput('] preparation')
    running.signal('SIGINT')
    await expectGoldenOutput(faultLab, 'interrupted', 130, await running.ended)
  })

  test('up reports a service that does not start, and a held operator lock', async () => {
    await faultLab.writeClusterYaml({ 'spec.components.etcd': { args: { 'heartbeat-interval': '5000' } } })
    const running = faultLab.terminal.start(...upArgs)
    await running.waitForOutput('waiting for etcd.service to run')
    await expectGoldenOutput(faultLab, 'claim-held', 1, await faultLab.terminal.hyperkube(...upArgs))
    const result = await running.ended
    const log = result.text.match(/^ {4}│ .*\n/gm) ?? []
    expect(log).toHaveLength(20)
    const reason = log.find((line) => line.includes('election-timeout'))
    // The last twenty log lines may begin at any point of a restart, so only the reason is compared.
    const text = result.text
      .replace(log.join(''), `    │ …\n${reason}    │ …\n`)
      .replaceAll(/exited \d+ times/g, 'exited N times')
      .replaceAll(/activating, (?:start|auto-restart);/g, 'activating, …;')
    await expectGoldenOutput(faultLab, 'service-fails', 1, { ...result, text })
    await faultLab.writeClusterYaml()
  }, 240_000)

  test('up reports a lost operator lock', async () => {
    const first = faultLab.terminal.start(...upArgs)
    await first.waitForOutput('cp1/etcd: ')
    // A stopped process behaves like `up` on a laptop whose lid was closed.
    first.signal('SIGSTOP')
    await waitForApi(cp1)
    const second = faultLab.terminal.start(...upArgs, '--force-unlock')
    await second.waitForOutput('] controllers')
    // The paused agent cannot finish its current op, so `up` still runs at the second Ctrl-C.
    await cp1.exec(['systemctl', 'kill', '--signal=SIGSTOP', 'hyperkube-agent'])
    second.signal('SIGINT')
    await second.waitForOutput('press Ctrl-C again')
    second.signal('SIGINT')
    await expectGoldenOutput(faultLab, 'interrupted-twice', 130, await second.ended)
    await cp1.exec(['systemctl', 'kill', '--signal=SIGCONT', 'hyperkube-agent'])
    first.signal('SIGCONT')
    await expectGoldenOutput(faultLab, 'claim-lost', 1, await first.ended)
  })

  test('up reports an unreachable worker, and updates the worker once it is reachable', async () => {
    expect((await faultLab.terminal.hyperkube(...upArgs)).code).toBe(0)
    await w1.setDroppedSources([faultLab.lab.gateway])
    await faultLab.writeClusterYaml({ 'spec.components.kubelet.args': { v: '3' } })
    await expectGoldenOutput(faultLab, 'worker-unreachable', 3, await faultLab.terminal.hyperkube(...upArgs))
    await w1.setDroppedSources([])
    await expectGoldenOutput(
      faultLab,
      'worker-reachable-again',
      0,
      await faultLab.terminal.hyperkube(...upArgs),
    )
    await faultLab.writeClusterYaml()
  }, 240_000)
})
