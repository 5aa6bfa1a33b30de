import { expect, test } from 'vitest'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'
import { findStartedProgram, readForeignServices } from './foreign-services.ts'

const debian = `# Licensed under the Apache License, Version 2.0 (the "License");
[Unit]
Description=containerd container runtime
After=network.target local-fs.target

[Service]
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/bin/containerd
Type=notify
`
const ownUnit = `[Service]
Type=notify
ExecStart=/opt/hyperkube/kubelet-1.37.1/kubelet \\
  --config=/etc/hyperkube/kubelet/config.yaml \\
  --kubeconfig=/etc/hyperkube/kubelet/kubeconfig
`
const kubeadm = `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--kubeconfig=/etc/kubernetes/kubelet.conf"
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS
`

async function listForeign(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return readForeignServices(createFakeFactSource({ files }))
}

test('a unit of a package is foreign if hyperkube uses the same name', async () => {
  expect(await listForeign({ '/lib/systemd/system/containerd.service': debian })).toEqual([
    'containerd.service',
  ])
  expect(await listForeign({ '/usr/lib/systemd/system/docker.service': debian })).toEqual([])
})

test('keepalived of the distribution is foreign only while it is active', async () => {
  const files = { '/lib/systemd/system/keepalived.service': '[Service]\nExecStart=/usr/sbin/keepalived\n' }
  expect(await listForeign(files)).toEqual([])
  const units =
    'firewalld.service ufw.service docker.service snap.docker.dockerd.service NetworkManager.service keepalived.service'
  const states = 'inactive\ninactive\ninactive\ninactive\ninactive\nactive\n'
  const commands = { [`systemctl is-active ${units}`]: states }
  expect(await readForeignServices(createFakeFactSource({ files, commands }))).toEqual(['keepalived.service'])
})

test('a unit of hyperkube is not foreign, also if it overrides a unit of a package', async () => {
  const files = {
    '/etc/systemd/system/kubelet.service': ownUnit,
    '/usr/lib/systemd/system/kubelet.service': '[Service]\nExecStart=/usr/bin/kubelet\n',
  }
  expect(await listForeign(files)).toEqual([])
})

test('a drop-in that starts another program makes a unit of hyperkube foreign', async () => {
  const files = { '/etc/systemd/system/kubelet.service': ownUnit }
  const directory = 'kubelet.service.d'
  expect(
    await listForeign({ ...files, [`/usr/lib/systemd/system/${directory}/10-kubeadm.conf`]: kubeadm }),
  ).toEqual(['kubelet.service'])
  // An empty drop-in of the same name in /etc overrides the one in /usr/lib. A file with another suffix is
  // ignored.
  expect(
    await listForeign({
      ...files,
      [`/usr/lib/systemd/system/${directory}/10-kubeadm.conf`]: kubeadm,
      [`/etc/systemd/system/${directory}/10-kubeadm.conf`]: '',
      [`/etc/systemd/system/${directory}/10-kubeadm.conf.old`]: kubeadm,
    }),
  ).toEqual([])
  // An administrator's drop-in that changes other settings does not make the service foreign.
  expect(
    await listForeign({ ...files, [`/etc/systemd/system/${directory}/me.conf`]: '[Service]\nNice=5\n' }),
  ).toEqual([])
})

test('a drop-in without its unit is foreign only if it starts a program', async () => {
  const directory = '/etc/systemd/system/kubelet.service.d'
  expect(await listForeign({ [`${directory}/10-kubeadm.conf`]: kubeadm })).toEqual(['kubelet.service'])
  expect(await listForeign({ [`${directory}/limits.conf`]: '[Service]\nNice=5\n' })).toEqual([])
})

test('a masked unit is foreign', async () => {
  expect(await listForeign({ '/etc/systemd/system/etcd.service': '' })).toEqual(['etcd.service'])
})

test.each([
  ['ExecStart=-/usr/bin/etcd --x', '/usr/bin/etcd'],
  ['ExecStart=@/opt/hyperkube/a b', '/opt/hyperkube/a'],
  ['ExecStart = +"/opt/my programs/etcd" --x', '/opt/my programs/etcd'],
  ['#ExecStart=/bin/sh\nExecStart=/usr/bin/etcd $ARGS', '/usr/bin/etcd'],
  ['ExecStartPre=/bin/true', undefined],
  ['ExecStart=/a\nExecStart=', undefined],
])('the setting %j starts %s', (text, program) => {
  expect(findStartedProgram([`[Service]\n${text}\n`])).toBe(program)
})
