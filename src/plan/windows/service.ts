import { win32 } from 'node:path'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { Runner, ScmServiceSpec } from '../../contract/service.ts'
import { type DownloadContext, planDownload } from '../files.ts'
import { buildWindowsPlanPaths, windowsProgramDirectory } from './paths.ts'

export interface ScmServiceOptions {
  readonly name: string
  readonly description: string
  readonly program: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** True if the program implements the Windows service protocol. */
  readonly native: boolean
  /** Program that starts the service, if the service manager does not start it directly. */
  readonly runner?: Runner
  /**
   * Services that this service cannot run without. When the service manager stops one of them, it also stops
   * this service. Services that it can run without must therefore not be listed.
   */
  readonly dependsOn?: readonly string[]
}

/** Builds a service that Windows always restarts, so that it recovers without an operator. */
export function buildScmService(options: ScmServiceOptions): ScmServiceSpec {
  const { name, description, program, native, runner, environment = {}, dependsOn = [] } = options
  return {
    supervisor: 'scm',
    name,
    description,
    program,
    arguments: [...options.arguments],
    environment: { ...environment },
    native,
    ...(runner === undefined ? {} : { runner }),
    dependsOn: [...dependsOn],
    restartAfter: [2000, 5000, 15_000],
  }
}

export type RunnerContext = DownloadContext

/** A program that starts a service, and the artifact that contains it. */
interface PlannedRunner {
  readonly artifact: PlannedArtifact
  readonly runner: Runner
}

/**
 * Plans kube-log-runner, which writes the output of a program to files. It is for programs that are Windows
 * services but write no log file.
 */
export function planLogRunner(context: RunnerContext, name: string): PlannedRunner {
  const as = 'kube-log-runner.exe'
  const artifact = planDownload(context, 'kube-log-runner', windowsProgramDirectory(context), {
    kind: 'program',
    as,
  })
  return {
    artifact,
    runner: {
      program: win32.join(artifact.directory, as),
      arguments: [
        `-log-file=${win32.join(buildWindowsPlanPaths(context).logs, `${name}.log`)}`,
        '-log-file-size=10Mi',
        '-log-file-age=168h',
        '-flush-interval=5s',
      ],
    },
  }
}

/** Exit status of a process that got Ctrl-C before it installed a handler. */
const ctrlCStatus = -1_073_741_510

/**
 * Plans shawl, which runs a program that is not a Windows service. shawl talks to the service manager and
 * stops the program with Ctrl-C.
 */
export function planServiceWrapper(context: RunnerContext, name: string): PlannedRunner {
  const artifact = planDownload(context, 'shawl', windowsProgramDirectory(context), {
    kind: 'archive',
    strip: 0,
  })
  return {
    artifact,
    runner: {
      program: win32.join(artifact.directory, 'shawl.exe'),
      arguments: [
        'run',
        `--name=${name}`,
        // Restart after any exit status. The service manager itself does not restart a service that exits
        // with success.
        '--restart',
        '--restart-delay=2000',
        // This timeout must be shorter than the time after which the agent kills a stopping process.
        '--stop-timeout=30000',
        // Exit statuses that count as normal when the service is stopped. After any other status the service
        // manager would start the service again.
        `--pass=0,1,${ctrlCStatus}`,
        `--log-dir=${buildWindowsPlanPaths(context).logs}`,
        `--log-as=${name}-service`,
        `--log-cmd-as=${name}`,
        '--log-rotate=bytes=10485760',
        '--log-retain=5',
        '--',
      ],
    },
  }
}
