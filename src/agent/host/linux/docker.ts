import { z } from 'zod'
import type { RestartPolicy } from '../../../contract/predecessor.ts'
import { type Argv, type CommandResult, toCommandError } from '../../../kit/command.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { RunCommand } from '../command.ts'
import type { Docker, DockerContainer } from '../host.ts'

/** Fields of `docker container inspect`, which prints a list with one entry for each name. */
const inspection = z.tuple([
  z.looseObject({
    State: z.looseObject({ Running: z.boolean() }),
    HostConfig: z.looseObject({
      RestartPolicy: z.looseObject({
        // Containers that were created without a policy have an empty name.
        Name: z.enum(['', 'no', 'always', 'unless-stopped', 'on-failure']),
        MaximumRetryCount: z.int().min(0).default(0),
      }),
    }),
  }),
])

const stopSeconds = 30
/** Pods end sooner, because their node was drained. */
const podStopSeconds = 10
/** Label that cri-dockerd and the older kubelet give to containers of pods. */
const podLabel = 'io.kubernetes.docker.type'

/** Result of a command if Docker is not installed or does not run. */
const unavailable = 'unavailable'

export function createDocker(command: RunCommand): Docker {
  /** Runs a command that reads. Exit code 1 is an error that the caller may know. */
  const query = async (argv: Argv): Promise<CommandResult | 'unavailable'> => {
    const result = await command(argv, { codes: [0, 1] }).catch((error: unknown) => {
      if (error instanceof HyperkubeError && error.code === 'COMMAND_NOT_RUN') return undefined
      throw error
    })
    if (result === undefined) return unavailable
    return result.code !== 0 && /cannot connect to the docker daemon/i.test(result.stderr)
      ? unavailable
      : result
  }
  const list = async (argv: Argv): Promise<readonly string[] | 'unavailable'> => {
    const result = await query(argv)
    if (result === unavailable) return unavailable
    if (result.code !== 0) throw toCommandError(argv.join(' '), result)
    return result.stdout.split('\n').filter((line) => line !== '')
  }
  return {
    async find(name) {
      const argv = ['docker', 'container', 'inspect', name] as const
      const result = await query(argv)
      if (result === unavailable) return unavailable
      if (result.code === 0) return parseContainer(result.stdout)
      if (/no such container/i.test(result.stderr)) return 'absent'
      throw toCommandError(argv.join(' '), result)
    },
    async listOthers(names) {
      const format = `{{.Names}}\t{{.Label "${podLabel}"}}`
      const lines = await list(['docker', 'ps', '--format', format])
      if (lines === unavailable) return unavailable
      return lines.flatMap((line) => {
        const [name = '', pod = ''] = line.split('\t')
        return pod === '' && !names.includes(name) ? [name] : []
      })
    },
    async removePods(signal) {
      const ids = await list(['docker', 'ps', '--all', '--quiet', '--filter', `label=${podLabel}`])
      if (ids === unavailable || ids.length === 0) return 0
      await command(['docker', 'stop', '-t', String(podStopSeconds), ...ids], { signal })
      await command(['docker', 'rm', '--force', ...ids], { signal })
      return ids.length
    },
    async setRestartPolicy(name, policy) {
      await command(['docker', 'update', `--restart=${formatRestartPolicy(policy)}`, name])
    },
    async start(name) {
      await command(['docker', 'start', name])
    },
    async stop(name, signal) {
      await command(['docker', 'stop', '-t', String(stopSeconds), name], { signal })
    },
    async remove(name) {
      await command(['docker', 'rm', name])
    },
  }
}

/** Parses the output of `docker container inspect` for one container. */
export function parseContainer(text: string): DockerContainer {
  const [{ State, HostConfig }] = inspection.parse(JSON.parse(text))
  const { Name, MaximumRetryCount } = HostConfig.RestartPolicy
  return {
    running: State.Running,
    restartPolicy: { name: Name === '' ? 'no' : Name, retries: MaximumRetryCount },
  }
}

function formatRestartPolicy({ name, retries }: RestartPolicy): string {
  return name === 'on-failure' && retries > 0 ? `${name}:${retries}` : name
}
