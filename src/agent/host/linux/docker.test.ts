import { expect, test } from 'vitest'
import type { CommandResult } from '../../../kit/command.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { createDocker, parseContainer } from './docker.ts'

function inspectText(policy: object, running = true): string {
  return JSON.stringify([
    { Name: '/etcd', State: { Running: running, Pid: 7 }, HostConfig: { RestartPolicy: policy, Binds: [] } },
  ])
}

function createRecordedDocker(result: Partial<CommandResult> = {}) {
  const ran: string[] = []
  const docker = createDocker(async (argv) => {
    ran.push(argv.join(' '))
    return { code: 0, stdout: '', stderr: '', ...result }
  })
  return { docker, ran }
}

test('state and restart policy of a container are parsed', () => {
  expect(parseContainer(inspectText({ Name: 'always', MaximumRetryCount: 0 }))).toEqual({
    running: true,
    restartPolicy: { name: 'always', retries: 0 },
  })
  expect(parseContainer(inspectText({ Name: '' }, false))).toEqual({
    running: false,
    restartPolicy: { name: 'no', retries: 0 },
  })
})

test('output that is not of one container is refused', () => {
  expect(() => parseContainer('[]')).toThrow(/too_small/)
  expect(() => parseContainer(inspectText({ Name: 'sometimes', MaximumRetryCount: 0 }))).toThrow(
    /sometimes|invalid/i,
  )
})

test.each([
  ['Error: No such container: etcd', 'absent'],
  ['Error response from daemon: No such container: etcd', 'absent'],
  ['Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', 'unavailable'],
])('the error "%s" means that the container is %s', async (stderr, expected) => {
  const { docker } = createRecordedDocker({ code: 1, stdout: '[]\n', stderr })
  expect(await docker.find('etcd')).toBe(expected)
})

test('a host without Docker has no containers; other errors are thrown', async () => {
  const missing = createDocker(async () => {
    throw new HyperkubeError('COMMAND_NOT_RUN', 'cannot run docker')
  })
  expect(await missing.find('etcd')).toBe('unavailable')
  const { docker } = createRecordedDocker({ code: 1, stderr: 'permission denied' })
  await expect(docker.find('etcd')).rejects.toMatchObject({ code: 'COMMAND_FAILED' })
})

test('each change is one command', async () => {
  const { docker, ran } = createRecordedDocker()
  await docker.setRestartPolicy('etcd', { name: 'no', retries: 0 })
  await docker.setRestartPolicy('etcd', { name: 'on-failure', retries: 3 })
  await docker.stop('etcd', new AbortController().signal)
  await docker.start('etcd')
  await docker.remove('etcd')
  expect(ran).toEqual([
    'docker update --restart=no etcd',
    'docker update --restart=on-failure:3 etcd',
    'docker stop -t 30 etcd',
    'docker start etcd',
    'docker rm etcd',
  ])
})

test('containers of pods, of RKE1 and others are distinguished', async () => {
  const { docker, ran } = createRecordedDocker({ stdout: 'kubelet\t\nk8s_pod\tcontainer\nown\t\n' })
  expect(await docker.listOthers(['kubelet'])).toEqual(['own'])
  expect(ran).toEqual(['docker ps --format {{.Names}}\t{{.Label "io.kubernetes.docker.type"}}'])
})

test('pods are stopped and removed', async () => {
  const { docker, ran } = createRecordedDocker({ stdout: 'a1\nb2\n' })
  expect(await docker.removePods(new AbortController().signal)).toBe(2)
  expect(ran.slice(1)).toEqual(['docker stop -t 10 a1 b2', 'docker rm --force a1 b2'])
})
