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

/** Writes the script of a host of hyperkube, which runs below a temporary directory. */
async function writeScript(name: string): Promise<void> {
  const plan = plans.find(({ host }) => host === name)
  if (plan === undefined) throw new Error(`the cluster has no ${name}`)
  const script = renderHostScript(input, plan).replaceAll(
    /(?<![\w*])\/(?=(?:etc|usr\/lib|var)\/)/g,
    `${root}/`,
  )
  // The script must not change the machine on which the test runs.
  if (/[\s="':]\/(?:etc|usr\/lib|var)\//.test(script))
    throw new Error('the script has a path of this machine')
  await write('/eject/eject.sh', script, 0o755)
}

/** Builds a host of hyperkube below a temporary directory. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'hyperkube-eject-'))
  await writeScript('w1')
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

test('a control plane waits until kube-controller-manager has renewed its lease after the change', async () => {
  await writeScript('cp1')
  const calls = at('/calls')
  // The first lease is of the leader that was stopped.
  const kubectl = `case "$*" in *' lease kube-controller-manager '*) ;; *) exit 0 ;; esac
echo lease >>${calls}
[ "$(wc -l <${calls})" -gt 1 ] && echo 2999-01-01T00:00:00.000000Z || echo 2000-01-01T00:00:00.000000Z`
  await write('/programs/kubectl', `#!/bin/sh\n${kubectl}\n`, 0o755)
  expect(run().split('\n').slice(-4)).toEqual([
    'cp1: wait until kube-controller-manager leads',
    'cp1: wait until the pod of kube-proxy works',
    'cp1: runs with kubeadm',
    '',
  ])
  expect(readFileSync(calls, 'utf8')).toBe('lease\nlease\n')
})

test('a host waits for the pod of kube-proxy, and a failure names the command that shows its cause', async () => {
  const curl = 'case "$*" in *10256*) exit 7 ;; esac'
  await write('/programs/curl', `#!/bin/sh\n${curl}\n`, 0o755)
  await write('/programs/sleep', '#!/bin/sh\n', 0o755)
  const { status, stderr } = spawnSync(at('/eject/eject.sh'), {
    env: { PATH: `${at('/programs')}:${process.env['PATH'] ?? ''}` },
    encoding: 'utf8',
  })
  expect(status).toBe(1)
  expect(stderr).toContain(
    'w1: gave up waiting for kube-proxy; find the cause: kubectl -n kube-system describe pods -l k8s-app=kube-proxy',
  )
})
