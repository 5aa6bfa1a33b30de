import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { parseDuration } from '../../kit/time-format.ts'
import { type WaveSize, waveSize } from '../../spec/fleet.ts'
import { appendValues, createProgressOption, progressKinds } from '../command/run-flags.ts'

/** Flags of every fleet command. */
export const selectFlags = z.looseObject({
  select: z.string().optional(),
  parallel: z.number().optional(),
  clusterTimeout: z.number().optional(),
})

export const rolloutFlags = selectFlags.extend({
  waves: z.array(waveSize).optional(),
  maxFailed: z.number().optional(),
  pause: z.number().optional(),
  resume: z.boolean().default(false),
  restart: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  ignore: z.array(z.string()).default([]),
  acceptNewHostKeys: z.boolean().default(false),
  progress: z.enum(progressKinds).default('auto'),
})
export type RolloutFlags = z.infer<typeof rolloutFlags>

/** Adds the flags that choose clusters and limit how many are handled at once. */
export function addSelectFlags(command: Command, parallel: string): Command {
  return command
    .option('--select <labels>', 'clusters with these labels: stage=canary,region!=eu (default: all)')
    .option('--parallel <number>', `clusters at the same time (default: ${parallel})`, parseParallelFlag)
}

/** Adds the flag that limits the time for each cluster. `defaultText` is its default, for example `5m`. */
export function addClusterTimeoutFlag(command: Command, defaultText: string): Command {
  return command.option(
    '--cluster-timeout <duration>',
    `longest time for one cluster: 30s, 1h (default: ${defaultText})`,
    parseDurationFlag,
  )
}

/** Adds the flags of every command that changes clusters in waves. */
export function addRolloutFlags(command: Command): Command {
  return addClusterTimeoutFlag(addSelectFlags(command, 'spec.rollout.parallel'), '2h')
    .option(
      '--waves <sizes>',
      'clusters that are changed when each wave ends: 1,10%,100% (default: spec.rollout.waves)',
      parseWavesFlag,
    )
    .option(
      '--max-failed <number>',
      'failed clusters with which the rollout continues (default: spec.rollout.maxFailed)',
      parseCountFlag,
    )
    .option(
      '--pause <duration>',
      'time between two waves: 10m (default: spec.rollout.pause)',
      parseDurationFlag,
    )
    .option('--resume', 'continue the last run where it stopped')
    .option('--restart', 'begin again, although the last run has not ended')
    .option(
      '--dry-run',
      'show what would change, without changing anything; exit code 3 if changes are pending',
    )
    .option('--ignore <code>', 'ignore this finding code (repeatable)', appendValues)
    .option('--accept-new-host-keys', 'accept the SSH host keys of unknown hosts without a prompt')
    .addOption(createProgressOption())
}

const maxParallel = 50

function parseParallelFlag(text: string): number {
  const count = Number(text)
  if (/^\d{1,2}$/.test(text) && count >= 1 && count <= maxParallel) return count
  throw new InvalidArgumentError(`expected a number from 1 to ${maxParallel}`)
}

function parseCountFlag(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('expected a number')
}

function parseDurationFlag(text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) throw new InvalidArgumentError('expected a duration such as 30s, 10m or 1h')
  return milliseconds
}

function parseWavesFlag(text: string): WaveSize[] {
  const sizes = z
    .array(waveSize)
    .safeParse(text.split(',').map((part) => (/^\d+$/.test(part) ? Number(part) : part)))
  if (sizes.success) return sizes.data
  throw new InvalidArgumentError('expected numbers or percentages of clusters: 1,10%,100%')
}
