import { posix } from 'node:path'
import { agentRollbackTimer } from '../../contract/host-paths.ts'
import type { Argv } from '../../kit/command.ts'
import { hyperkubeProgram, stateRoot } from '../../plan/linux/paths.ts'

/**
 * This file contains the shell scripts that switch a host to another agent. A new agent is provisional until
 * an operator has reached and confirmed it. Otherwise a timer on the host restores the previous program and
 * unit. Timer and rollback data are files, written to disk before anything points to the new agent. A power
 * failure therefore leaves either the previous agent, or the new agent with a timer that restarts at the next
 * boot.
 */

const current = posix.dirname(hyperkubeProgram)
const program = posix.basename(hyperkubeProgram)
const units = posix.dirname(agentRollbackTimer)
const rollbackDirectory = `${stateRoot}/agent-switch`
/** Agents recognize these names as unfinished temporary files and remove them. */
const newUnit = `${units}/.hyperkube-agent.service.hyperkube-tmp`
const newLink = `${posix.dirname(current)}/.current.hyperkube-tmp`
const timer = posix.basename(agentRollbackTimer, '.timer')

export const agentUnit = 'hyperkube-agent.service'

const syncFunction = `settle() { sync -f "$1" 2>/dev/null || sync; }`

/**
 * Deletes the rollback timer and its files, and syncs the deletion to disk. Otherwise the timer could come
 * back after a power failure and restore an agent that no longer exists.
 */
const endRollback = `
systemctl disable --quiet --now ${timer}.timer
rm -f ${units}/${timer}.timer ${units}/${timer}.service
rm -rf ${rollbackDirectory}
sync
systemctl daemon-reload
`

/**
 * Restores the previous agent. If the switch was interrupted before it saved the previous agent, only the
 * rollback files are removed.
 */
const rollbackScript = `set -eu
if [ -x ${rollbackDirectory}/previous/${program} ]; then
  cp ${rollbackDirectory}/${agentUnit} ${newUnit}
  mv ${newUnit} ${units}/${agentUnit}
  ln -sfn "$(readlink ${rollbackDirectory}/previous)" ${newLink}
  mv -T ${newLink} ${current}
  sync
  systemctl daemon-reload
  systemctl restart --no-block ${agentUnit}
fi
${endRollback}`

const rollbackService = `[Unit]
Description=roll back to the previous hyperkube agent, as the new one did not answer

[Service]
Type=oneshot
ExecStart=/bin/sh ${rollbackDirectory}/rollback
`

const rollbackTimer = `[Unit]
Description=timeout for a new hyperkube agent to answer

[Timer]
OnActiveSec=$seconds
AccuracySec=1

[Install]
WantedBy=timers.target
`

/**
 * Switches the host to another agent. Arguments: the new directory, the previous directory (may be empty),
 * and the seconds until the rollback. The new unit file is read from standard input.
 */
const switchScript = `set -eu
directory=$1 previous=$2 seconds=$3
${syncFunction}
cat > ${newUnit}
chmod 600 ${newUnit}
settle "$directory"
if [ -n "$previous" ] && [ "$previous" != "$directory" ]; then
  # An agent that was never confirmed is no rollback target: the one before it stays the target.
  if [ ! -L ${rollbackDirectory}/previous ]; then
    rm -rf ${rollbackDirectory}
    mkdir -p -m 700 ${rollbackDirectory}
    [ -e ${units}/${agentUnit} ] || cp ${newUnit} ${units}/${agentUnit}
    cp ${units}/${agentUnit} ${rollbackDirectory}/${agentUnit}
    cat > ${rollbackDirectory}/rollback <<'EOF'
${rollbackScript}EOF
    settle ${rollbackDirectory}
    ln -s "$previous" ${rollbackDirectory}/previous
  fi
  cat > ${units}/${timer}.service <<'EOF'
${rollbackService}EOF
  cat > ${units}/${timer}.timer <<EOF
${rollbackTimer}EOF
  systemctl enable --quiet --no-reload ${timer}.timer
  systemctl daemon-reload
  systemctl restart ${timer}.timer
  settle ${rollbackDirectory}
fi
settle ${units}
mv ${newUnit} ${units}/${agentUnit}
ln -sfn "$directory" ${newLink}
mv -T ${newLink} ${current}
settle ${current}
settle ${units}
systemctl enable --quiet --no-reload ${agentUnit}
systemctl daemon-reload
systemctl restart ${agentUnit} && exit 0
journalctl --no-pager --quiet --output=cat --lines=5 --unit=${agentUnit} >&2
if [ -L ${rollbackDirectory}/previous ]; then
  echo 'rolling back to the previous agent' >&2
  systemctl start ${timer}.service
fi
exit 1
`

/**
 * Prints three or four lines: the architecture, the agent's directory if it contains the program, the systemd
 * state, and `provisional` if the agent is provisional.
 */
const inspectScript = `uname -m
directory=$(readlink -f ${current} || true)
if [ -x "$directory/${program}" ]; then echo "$directory"; else echo; fi
systemctl is-active ${agentUnit} || true
if [ -e ${units}/${timer}.timer ]; then echo provisional; else echo; fi
command -v gzip || true
`

const confirmScript = `set -eu
[ -e ${units}/${timer}.timer ] || exit 0
${endRollback}`

export const inspectAgentCommand: Argv = ['sh', '-c', inspectScript]

export function buildSwitchCommand(directory: string, previous: string, seconds: number): Argv {
  return ['sh', '-c', switchScript, 'change', directory, previous, String(seconds)]
}

export const confirmAgentCommand: Argv = ['sh', '-c', confirmScript]

/** Waits until systemd has unloaded the unit of the agent. */
const waitGoneScript = `until [ "$(systemctl show --property=LoadState --value ${agentUnit})" = not-found ]; do sleep 0.1; done`

export const waitForAgentGoneCommand: Argv = ['sh', '-c', waitGoneScript]
