import { win32 } from 'node:path'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { Runner } from '../../contract/service.ts'
import { planDownload, type DownloadContext } from '../download.ts'
import { buildWindowsPlanPaths, windowsProgramDirectory } from './paths.ts'

export type RunnerContext = DownloadContext

/** The program that starts a service, and its artifact. */
export interface PlannedRunner {
  readonly artifact: PlannedArtifact
  readonly runner: Runner
}

/**
 * For programs that are Windows services themselves but have no log: kube-log-runner writes their output to
 * files.
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
 * For programs that are no Windows services: shawl talks to the service manager and stops the program with
 * Ctrl-C.
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
        // Restart after any exit status: the service manager does not restart a service that exits with
        // success.
        '--restart',
        '--restart-delay=2000',
        // Shorter than the time the agent waits before it kills a process.
        '--stop-timeout=30000',
        // These exit statuses count as stopped. After any other one the service manager would start the
        // service again.
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
