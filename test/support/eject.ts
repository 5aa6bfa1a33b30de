import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { programFetch } from '../../lab/cluster/artifacts.ts'
import { machineArch } from '../../lab/components/build.ts'
import type { KubernetesVersion } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { runProgram } from '../../src/kit/command.ts'

/** Installs kubeadm, kubelet and kubectl from a mirror, without starting the kubelet. */
export async function installKubeadm(
  hosts: readonly Host[],
  mirror: string,
  kubernetes: KubernetesVersion,
): Promise<void> {
  const fetches = ['kubeadm', 'kubelet', 'kubectl'].map((program) => {
    const { path } = programFetch(`kubernetes@${kubernetes}`, program, machineArch())
    return `curl -fsS ${mirror}/${path} -o /usr/local/bin/${program} && chmod 755 /usr/local/bin/${program}`
  })
  await settleAll(hosts.map(async (host) => host.script(fetches.join('\n'))))
}

/** Copies the files that `hyperkube eject` wrote for a host to this host. */
export async function sendEjectFiles(host: Host, directory: string): Promise<void> {
  const packed = join(directory, `${host.name}.tar`)
  const files = join(directory, 'hosts', host.name)
  await runProgram(['tar', '-C', files, '--owner=0', '--group=0', '-cf', packed, '.'])
  await host.script('mkdir -p -m 700 /root/eject')
  await host.exec(['tar', '-x', '-p', '-C', '/root/eject'], { input: await readFile(packed) })
}

/** Runs the script of a host. Returns its duration in seconds. */
export async function runEjectScript(host: Host, ...args: readonly string[]): Promise<number> {
  const started = performance.now()
  const { code, stderr } = await host.exec(['/root/eject/eject.sh', ...args], { allowFailure: true })
  const seconds = (performance.now() - started) / 1000
  process.stderr.write(`${host.name} ${args.join(' ')}: ${seconds.toFixed(1)} s\n${stderr}`)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return seconds
}
