import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import {
  archiveFetch,
  fetchScript,
  pauseImage,
  programFetch,
  testImage,
  selectVersions,
} from '../../lab/cluster/artifacts.ts'
import { renderContainerdConfig } from '../../lab/cluster/configs.ts'
import { runtimeFiles } from '../../lab/cluster/node-files.ts'
import { sendFiles } from '../../lab/cluster/send-files.ts'
import { machineArch } from '../../lab/components/build.ts'
import { kubernetesVersions, selectParts } from '../../lab/components/parts.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Mirror } from '../../lab/mirror/server.ts'
import { openLabMirror } from '../support/lab-mirror.ts'
import { openFreshLab, startOneHost } from '../support/lab.ts'

const registry = 'registry.k8s.io'
const pause = pauseImage(selectVersions(kubernetesVersions[0]))
const certificates = 'etc/containerd/certs.d'
const inspected = z.object({ status: z.object({ repoDigests: z.array(z.string()) }) })

let lab: Lab
let mirror: Mirror
let host: Host

/** The configuration that hyperkube writes for `registries: [{ host: registry.k8s.io, mirrors: [...] }]`. */
const configPath = `
[plugins.'io.containerd.cri.v1.images'.registry]
  config_path = "/${certificates}"
`
const hostsToml = (address: string): string => `[host."${address}"]\n  capabilities = ["pull", "resolve"]\n`

/** Starts a host with containerd but without images, so the host must pull all images that it runs. */
beforeAll(async () => {
  lab = await openFreshLab('registry')
  mirror = await openLabMirror(lab, {
    parts: selectParts(['containerd', 'runc', 'crictl', 'pause', 'agnhost']),
  })
  host = await startOneHost(lab, 'h1')
  const arch = machineArch()
  await sendFiles(host, {
    ...runtimeFiles(pause),
    'etc/containerd/config.toml': renderContainerdConfig(pause) + configPath,
    [`${certificates}/${registry}/hosts.toml`]: hostsToml(mirror.address),
    'etc/crictl.yaml': 'runtime-endpoint: unix:///run/containerd/containerd.sock\n',
    'root/sandbox.json': JSON.stringify({
      metadata: { name: 'probe', namespace: 'default', uid: 'probe' },
      // The pod uses the host network, because a pod network is not installed.
      linux: { security_context: { namespace_options: { network: 2 } } },
    }),
    'root/container.json': JSON.stringify({
      metadata: { name: 'probe' },
      image: { image: testImage },
      args: ['pause'],
    }),
  })
  const fetches = [
    archiveFetch('containerd@v2.3.7', '/usr/local/bin', 1, arch),
    archiveFetch('crictl@v1.36.0', '/usr/local/bin', 0, arch),
    programFetch('runc@v1.5.2', 'runc', arch),
  ]
  await host.script(fetchScript({ mirror: mirror.address, digests: new Map() }, fetches))
  await host.exec(['systemctl', 'start', 'containerd'])
})
afterAll(async () => {
  try {
    await mirror.close()
  } finally {
    await lab.down()
  }
})

async function crictl(...args: string[]): Promise<string> {
  return (await host.exec(['crictl', ...args])).stdout.trim()
}

/** Returns the digest of an image in the mirror. */
async function readPublishedDigest(image: string): Promise<string> {
  const [, name, tag] = /^[^/]+\/(.+):(.+)$/.exec(image) ?? []
  const response = await fetch(`${mirror.address}/v2/${name}/manifests/${tag}?ns=${registry}`, {
    method: 'HEAD',
  })
  return response.headers.get('docker-content-digest') ?? ''
}

test.each([pause, testImage])('containerd pulls %s with the digest of the mirror', async (image) => {
  await crictl('pull', image)
  const { status } = inspected.parse(JSON.parse(await crictl('inspecti', image)))
  expect(status.repoDigests).toEqual([`${image.replace(/:[^:]+$/, '')}@${await readPublishedDigest(image)}`])
})

test('an image can be pulled by its digest', async () => {
  const image = `${registry}/pause@${await readPublishedDigest(pause)}`
  await host.exec(['ctr', 'images', 'pull', '--hosts-dir', `/${certificates}`, image])
  const { stdout } = await host.exec(['ctr', 'images', 'check', `name==${image}`])
  expect(stdout).toMatch(/complete \(2\/2\)/)
})

test('a pulled image runs', async () => {
  await crictl('pull', testImage)
  const sandbox = await crictl('runp', '/root/sandbox.json')
  const container = await crictl('create', sandbox, '/root/container.json', '/root/sandbox.json')
  await crictl('start', container)
  expect(await crictl('exec', container, '/agnhost', '--version')).toContain('2.66.1')
  await crictl('rmp', '--force', sandbox)
})

test('an image that the mirror does not have is reported as not found', async () => {
  for (const image of [`${registry}/no-such-image:1`, `${registry}/pause:0.0`]) {
    const { code, stderr } = await host.exec(['crictl', 'pull', image], { allowFailure: true })
    expect(code).not.toBe(0)
    expect(stderr).toContain(`${image}: not found`)
  }
})
