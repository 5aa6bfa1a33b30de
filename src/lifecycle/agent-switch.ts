import { posix } from 'node:path'
import type { Argv } from '../kit/command.ts'
import { ownProgram, state } from '../plan/linux/paths.ts'

/**
 * How a host goes over to another agent, as scripts of its own shell. A new agent is on trial until somebody has spoken
 * with it: a timer of the host goes back to the former one, program and unit alike, unless the trial has ended by then.
 * Timer and trial are files, and on the disk before anything leads to the new agent, so that a power cut at any moment
 * leaves either the former agent, or the new one with a timer that counts anew from the next start on.
 */
const current = posix.dirname(ownProgram)
const program = posix.basename(ownProgram)
const units = '/etc/systemd/system'
const trial = `${state}/trial`
/** Names under which agents know, and sweep, what was never finished. */
const newUnit = `${units}/.hyperkube-agent.service.hyperkube-tmp`
const newLink = `${posix.dirname(current)}/.current.hyperkube-tmp`
const timer = 'hyperkube-revert'

export const agentUnit = 'hyperkube-agent.service'

const settle = `settle() { sync -f "$1" 2>/dev/null || sync; }`

/** For good: a trial that came back with the power would go back to an agent that is no more. */
const endTrial = `
systemctl disable --quiet --now ${timer}.timer
rm -f ${units}/${timer}.timer ${units}/${timer}.service
rm -rf ${trial}
sync
systemctl daemon-reload
`

/** A trial that was cut before it began has no former agent to go back to. */
const goBack = `set -eu
if [ -x ${trial}/former/${program} ]; then
  cp ${trial}/${agentUnit} ${newUnit}
  mv ${newUnit} ${units}/${agentUnit}
  ln -sfn "$(readlink ${trial}/former)" ${newLink}
  mv -T ${newLink} ${current}
  sync
  systemctl daemon-reload
  systemctl restart --no-block ${agentUnit}
fi
${endTrial}`

const goBackService = `[Unit]
Description=back to the former agent of hyperkube, as the new one did not answer

[Service]
Type=oneshot
ExecStart=/bin/sh ${trial}/go-back
`

const goBackTimer = `[Unit]
Description=how long a new agent of hyperkube may take to answer

[Timer]
OnActiveSec=$seconds
AccuracySec=1

[Install]
WantedBy=timers.target
`

/** Arguments: the new directory, the former one if any, how many seconds a trial lasts. The unit is on standard input. */
const change = `set -eu
directory=$1 former=$2 seconds=$3
${settle}
cat > ${newUnit}
chmod 644 ${newUnit}
settle "$directory"
if [ -n "$former" ] && [ "$former" != "$directory" ]; then
  # An agent that nobody has spoken with yet is none to go back to: the one before it is.
  if [ ! -L ${trial}/former ]; then
    rm -rf ${trial}
    mkdir -p -m 700 ${trial}
    [ -e ${units}/${agentUnit} ] || cp ${newUnit} ${units}/${agentUnit}
    cp ${units}/${agentUnit} ${trial}/${agentUnit}
    cat > ${trial}/go-back <<'EOF'
${goBack}EOF
    settle ${trial}
    ln -s "$former" ${trial}/former
  fi
  cat > ${units}/${timer}.service <<'EOF'
${goBackService}EOF
  cat > ${units}/${timer}.timer <<EOF
${goBackTimer}EOF
  systemctl enable --quiet --no-reload ${timer}.timer
  systemctl daemon-reload
  systemctl restart ${timer}.timer
  settle ${trial}
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
if [ -L ${trial}/former ]; then
  echo 'the former one runs again' >&2
  systemctl start ${timer}.service
fi
exit 1
`

/** Says what kind of machine it is, which directory the agent is in, if it is one with a program, whether it runs, and whether it is on trial. */
const look = `uname -m
directory=$(readlink -f ${current} || true)
if [ -x "$directory/${program}" ]; then echo "$directory"; else echo; fi
systemctl is-active ${agentUnit} || true
if [ -e ${units}/${timer}.timer ]; then echo trial; fi
`

const keep = `set -eu
[ -e ${units}/${timer}.timer ] || exit 0
${endTrial}`

export const lookAtAgent: Argv = ['sh', '-c', look]

export function changeAgent(directory: string, former: string, seconds: number): Argv {
  return ['sh', '-c', change, 'change', directory, former, String(seconds)]
}

export const keepNewAgent: Argv = ['sh', '-c', keep]

/** Until systemd knows nothing of it any more. */
const untilGone = `until [ "$(systemctl show --property=LoadState --value ${agentUnit})" = not-found ]; do sleep 0.1; done`

export const untilAgentGone: Argv = ['sh', '-c', untilGone]
