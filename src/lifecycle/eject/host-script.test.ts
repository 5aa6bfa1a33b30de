import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, parseTestCluster, testIdentity } from '../../plan/testing/fixtures.ts'
import { renderHostScript } from './host-script.ts'

const example = join(import.meta.dirname, '../../../examples/high-availability.yml')
const cluster = parseTestCluster(readFileSync(example, 'utf8'))
const { plans } = planCluster(buildPlanInput(cluster))
const input = { cluster, plans, cas: testIdentity.cas, serviceAccountKey: testIdentity.serviceAccountKeys }

/** Programs of the host, as scripts. */
const programs: Readonly<Record<string, string>> = {
  id: 'echo 0',
  kubelet: 'echo Kubernetes v1.37.1',
  pgrep: 'exit 1',
  ...Object.fromEntries(['systemctl', 'curl', 'kubectl', 'crictl'].map((name) => [name, 'exit 0'])),
}

const unit = '/etc/systemd/system/kubelet.service'
const dropIn = `${unit}.d/10-kubeadm.conf`
const packagedUnit = '/usr/lib/systemd/system/kubelet.service'
const packagedDropIn = `${packagedUnit}.d/10-kubeadm.conf`
const pki = '/var/lib/kubelet/pki'

let root = ''
const at = (path: string): string => join(root, path)

async function write(path: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true })
  await writeFile(at(path), text, { mode })
}

/** Runs the script and returns what it printed. */
function run(...args: string[]): string {
  const { status, stderr } = spawnSync(at('/eject/eject.sh'), args, {
    env: { PATH: `${at('/programs')}:${process.env['PATH'] ?? ''}` },
    encoding: 'utf8',
  })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  return stderr
}

/** Builds a host of hyperkube below a temporary directory. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hyperkube-eject-'))
  const worker = plans.find(({ host }) => host === 'w1')
  if (worker === undefined) throw new Error('the cluster has a worker')
  const script = renderHostScript(input, worker).replaceAll(
    /(?<![\w*])\/(?=(?:etc|usr\/lib|var)\/)/g,
    `${root}/`,
  )
  // The script must not change the machine on which the test runs.
  if (/[\s="':]\/(?:etc|usr\/lib|var)\//.test(script))
    throw new Error('the script has a path of this machine')
  await write('/eject/eject.sh', script, 0o755)
  await write('/eject/kubelet.service', 'unit of eject')
  await mkdir(at('/eject/files'))
  await mkdir(at(pki), { recursive: true })
  for (const [name, text] of Object.entries(programs))
    await write(`/programs/${name}`, `#!/bin/sh\n${text}\n`, 0o755)
  await write(unit, 'unit of hyperkube')
})

afterEach(async () => rm(root, { recursive: true }))

test('the unit of the package is used only with the drop-in file that has its flags', async () => {
  await write(packagedUnit, 'unit of the package')
  run()
  expect(readFileSync(at(unit), 'utf8')).toBe('unit of eject')
  run('--undo')
  expect(readFileSync(at(unit), 'utf8')).toBe('unit of hyperkube')
  await write(packagedDropIn, 'flags')
  run()
  expect(existsSync(at(unit))).toBe(false)
})

test('the drop-in file that an adoption has hidden has an effect, and is hidden again after a return', async () => {
  await write(packagedUnit, 'unit of the package')
  await write(packagedDropIn, 'flags')
  await mkdir(dirname(at(dropIn)))
  await symlink('/dev/null', at(dropIn))
  run()
  expect(existsSync(at(dropIn))).toBe(false)
  run()
  run('--undo')
  expect(readlinkSync(at(dropIn))).toBe('/dev/null')
})

test('the certificate of kubeadm from before an adoption is replaced, and a renewed one is not', async () => {
  for (const name of ['2025', '2027', 'eject']) await write(`${pki}/kubelet-client-${name}.pem`, name)
  await symlink('kubelet-client-2025.pem', at(`${pki}/kubelet-client-current.pem`))
  run()
  expect(readlinkSync(at(`${pki}/kubelet-client-current.pem`))).toBe(at(`${pki}/kubelet-client-eject.pem`))
  await rm(at(`${pki}/kubelet-client-current.pem`))
  await symlink('kubelet-client-2027.pem', at(`${pki}/kubelet-client-current.pem`))
  run()
  expect(readlinkSync(at(`${pki}/kubelet-client-current.pem`))).toBe('kubelet-client-2027.pem')
})

test('manifests of the previous tool that become pods again are named before anything stops', async () => {
  expect(run()).not.toContain('manifests')
  run('--undo')
  await write('/etc/kubernetes/manifests/monitor.yaml', 'a pod from before an adoption')
  const lines = run().split('\n')
  const warning = `w1: the kubelet will also run the static pod in ${at('/etc/kubernetes/manifests/monitor.yaml')}`
  expect(lines).toContain(warning)
  expect(lines.indexOf(warning)).toBeLessThan(lines.findIndex((line) => line.startsWith('w1: stop ')))
})
