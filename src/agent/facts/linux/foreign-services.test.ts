import { expect, test } from 'vitest'
import { inMemory } from '../testing/fake-fact-source.ts'
import { foreignServices } from './foreign-services.ts'
import { startedProgram } from './unit-program.ts'

const debian = `# Licensed under the Apache License, Version 2.0 (the "License");
[Unit]
Description=containerd container runtime
After=network.target local-fs.target

[Service]
ExecStartPre=-/sbin/modprobe overlay
ExecStart=/usr/bin/containerd
Type=notify
`
const own = `[Service]
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

async function foreign(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  return foreignServices(inMemory({ files }))
}

test('what a package brought is not ours', async () => {
  expect(await foreign({ '/lib/systemd/system/containerd.service': debian })).toEqual(['containerd.service'])
  expect(await foreign({ '/usr/lib/systemd/system/docker.service': debian })).toEqual([])
})

test('what we made is ours, also where it goes over that of a package', async () => {
  const files = {
    '/etc/systemd/system/kubelet.service': own,
    '/usr/lib/systemd/system/kubelet.service': '[Service]\nExecStart=/usr/bin/kubelet\n',
  }
  expect(await foreign(files)).toEqual([])
})

test('what goes over ours and starts something else makes it another’s', async () => {
  const files = { '/etc/systemd/system/kubelet.service': own }
  const directory = 'kubelet.service.d'
  expect(
    await foreign({ ...files, [`/usr/lib/systemd/system/${directory}/10-kubeadm.conf`]: kubeadm }),
  ).toEqual(['kubelet.service'])
  // It was overruled by an empty one of the same name, and it may not be a setting at all.
  expect(
    await foreign({
      ...files,
      [`/usr/lib/systemd/system/${directory}/10-kubeadm.conf`]: kubeadm,
      [`/etc/systemd/system/${directory}/10-kubeadm.conf`]: '',
      [`/etc/systemd/system/${directory}/10-kubeadm.conf.old`]: kubeadm,
    }),
  ).toEqual([])
  // A person may give it more memory.
  expect(
    await foreign({ ...files, [`/etc/systemd/system/${directory}/me.conf`]: '[Service]\nNice=5\n' }),
  ).toEqual([])
})

test('pieces that were left behind count when they would start something', async () => {
  const directory = '/etc/systemd/system/kubelet.service.d'
  expect(await foreign({ [`${directory}/10-kubeadm.conf`]: kubeadm })).toEqual(['kubelet.service'])
  expect(await foreign({ [`${directory}/limits.conf`]: '[Service]\nNice=5\n' })).toEqual([])
})

test('a unit that somebody masked is theirs', async () => {
  expect(await foreign({ '/etc/systemd/system/etcd.service': '' })).toEqual(['etcd.service'])
})

test.each([
  ['ExecStart=-/usr/bin/etcd --x', '/usr/bin/etcd'],
  ['ExecStart=@/opt/hyperkube/a b', '/opt/hyperkube/a'],
  ['ExecStart = +"/opt/my programs/etcd" --x', '/opt/my programs/etcd'],
  ['#ExecStart=/bin/sh\nExecStart=/usr/bin/etcd $ARGS', '/usr/bin/etcd'],
  ['ExecStartPre=/bin/true', undefined],
  ['ExecStart=/a\nExecStart=', undefined],
])('%j starts %s', (text, program) => {
  expect(startedProgram([`[Service]\n${text}\n`])).toBe(program)
})
