import { posix } from 'node:path'
import { HyperkubeError } from '../kit/errors.ts'
import { agentService } from '../plan/linux/hyperkube-agent.ts'
import { ownProgram, programDirectory } from '../plan/linux/paths.ts'
import type { Remote } from '../ssh/remote.ts'

/** hyperkube itself, as it is brought to hosts. */
export interface OwnRelease {
  /** With the beginning of its digest, so that two builds of one version are two. */
  readonly version: string
  readonly file: string
  readonly sha256: string
}

export interface InstallOptions {
  readonly signal: AbortSignal
  readonly onProgress: (sent: number, size: number) => void
}

const current = posix.dirname(ownProgram)

/**
 * Makes sure that a host runs the agent of this very release. A new one is put beside the old, the link is switched in
 * one go, and a timer of the host's own switches back unless the new agent has answered by then. No component is touched.
 */
export async function installAgent(
  remote: Remote,
  release: OwnRelease,
  options: InstallOptions,
): Promise<void> {
  const { signal, onProgress } = options
  const directory = programDirectory('hyperkube', release.version)
  const look = await remote.exec(['sh', '-c', state, 'state', current], { signal, root: true })
  const [now = '', active = ''] = look.stdout.split('\n')
  if (now === directory && active === 'active') return
  const program = `${directory}/${posix.basename(ownProgram)}`
  await remote.exec(['mkdir', '-p', directory], { signal, root: true })
  await remote.upload({ path: release.file }, program, {
    mode: 0o755,
    sha256: release.sha256,
    signal,
    root: true,
    onProgress,
  })
  const service = agentService()
  const unit = service.supervisor === 'systemd' ? service.unit : ''
  const switched = await remote.exec(
    ['sh', '-eu', '-c', switchTo, 'switch', directory, current, now, service.name],
    {
      signal,
      root: true,
      input: unit,
    },
  )
  if (switched.code === 0) return
  throw new HyperkubeError('AGENT_NOT_STARTED', `its agent did not start: ${switched.stderr.trim()}`, {
    host: remote.host,
    hint: `on the host: journalctl -u ${service.name}`,
  })
}

/** Arguments: the link. Says where it leads to, and whether the agent runs. */
const state = 'readlink -f "$1" 2>/dev/null || echo; systemctl is-active hyperkube-agent.service || true'

/**
 * Arguments: the new directory, the link, the directory before if any, the service; the unit comes on standard input.
 * Whoever made the host switch back by itself calls that off once the new agent answers.
 */
const switchTo = `
cat > "/etc/systemd/system/.$4.new"
chmod 644 "/etc/systemd/system/.$4.new"
mv "/etc/systemd/system/.$4.new" "/etc/systemd/system/$4"
if [ -n "$3" ] && [ "$3" != "$1" ]; then
  systemctl stop hyperkube-revert.timer 2>/dev/null || true
  systemd-run --quiet --unit=hyperkube-revert --on-active=90 sh -c \\
    'ln -sfn "$0" "$1.old" && mv -T "$1.old" "$1" && systemctl restart "$2"' "$3" "$2" "$4"
fi
ln -sfn "$1" "$2.new"
mv -T "$2.new" "$2"
sync -f "$2" 2>/dev/null || sync
systemctl daemon-reload
systemctl enable --quiet "$4"
systemctl restart "$4"
`

/** The new agent has answered: the host need not switch back. */
export async function keepAgent(remote: Remote, signal: AbortSignal): Promise<void> {
  const quiet = 'systemctl stop hyperkube-revert.timer 2>/dev/null || true'
  await remote.exec(['sh', '-c', quiet], { signal, root: true })
}
