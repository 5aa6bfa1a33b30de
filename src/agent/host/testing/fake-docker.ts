import type { Docker, DockerContainer } from '../host.ts'

/** For tests: a fake Docker. */
export interface FakeDocker extends Docker {
  readonly containers: Map<string, DockerContainer>
  /** Names of containers that do not stop. */
  readonly stuck: Set<string>
  /** False if Docker is not installed or does not run. */
  available: boolean
  /** Number of containers of pods. */
  pods: number
}

export function createFakeDocker(): FakeDocker {
  const change = (name: string, changes: Partial<DockerContainer>): void => {
    const container = docker.containers.get(name)
    if (!docker.available || container === undefined) throw new Error(`there is no container ${name}`)
    docker.containers.set(name, { ...container, ...changes })
  }
  const docker: FakeDocker = {
    containers: new Map(),
    stuck: new Set(),
    available: true,
    pods: 0,
    find: async (name) => (docker.available ? (docker.containers.get(name) ?? 'absent') : 'unavailable'),
    setRestartPolicy: async (name, restartPolicy) => change(name, { restartPolicy }),
    start: async (name) => change(name, { running: true }),
    stop: async (name) => {
      if (!docker.stuck.has(name)) change(name, { running: false })
    },
    remove: async (name) => void docker.containers.delete(name),
    listOthers: async (names) =>
      docker.available
        ? [...docker.containers].flatMap(([name, { running }]) =>
            running && !names.includes(name) ? [name] : [],
          )
        : 'unavailable',
    removePods: async () => {
      const removed = docker.pods
      docker.pods = 0
      return removed
    },
  }
  return docker
}
