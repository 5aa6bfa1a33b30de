import { win32 } from 'node:path'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { Runner } from '../../contract/service.ts'
import { download, type DownloadScene } from '../download.ts'
import { placesOf, programDirectory } from './paths.ts'

export type RunnerScene = DownloadScene

/** What starts a program, and where that comes from. */
export interface Starter {
  readonly artifact: PlannedArtifact
  readonly runner: Runner
}

/** For a program that is a service by itself, and says all that it has to say to nobody: it keeps that in files. */
export function logRunner(scene: RunnerScene, name: string): Starter {
  const as = 'kube-log-runner.exe'
  const artifact = download(scene, 'kube-log-runner', programDirectory(scene), { kind: 'program', as })
  return {
    artifact,
    runner: {
      program: win32.join(artifact.directory, as),
      arguments: [
        `-log-file=${win32.join(placesOf(scene).logs, `${name}.log`)}`,
        '-log-file-size=10Mi',
        '-log-file-age=168h',
        '-flush-interval=5s',
      ],
    },
  }
}

/** Ended by Ctrl-C before it had begun to listen for that. */
const interrupted = -1_073_741_510

/** For a program that knows nothing of services: it answers to the manager, and tells the program to stop by Ctrl-C. */
export function serviceWrapper(scene: RunnerScene, name: string): Starter {
  const artifact = download(scene, 'shawl', programDirectory(scene), { kind: 'archive', strip: 0 })
  return {
    artifact,
    runner: {
      program: win32.join(artifact.directory, 'shawl.exe'),
      arguments: [
        'run',
        `--name=${name}`,
        // Whatever it ends with: the manager itself does not restart what ends well.
        '--restart',
        '--restart-delay=2000',
        // Less than what the agent waits before it ends a process.
        '--stop-timeout=30000',
        // However it ends when it is told to, it has stopped: the manager would start what has failed.
        `--pass=0,1,${interrupted}`,
        `--log-dir=${placesOf(scene).logs}`,
        `--log-as=${name}-service`,
        `--log-cmd-as=${name}`,
        '--log-rotate=bytes=10485760',
        '--log-retain=5',
        '--',
      ],
    },
  }
}
