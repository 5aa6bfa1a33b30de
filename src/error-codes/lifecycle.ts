import type { Entries } from './entry.ts'

export const lifecycle: Entries = {
  AGENT_NOT_STARTED: {
    summary: 'hyperkube was put on the host, but its agent did not start.',
    meaning: 'Mostly the host lacks something that every program needs: room on its disk, or systemd.',
    remedy: 'On the host: `journalctl -u hyperkube-agent -n 50`. Mend that, then run the same command again.',
  },
  AGENT_NOT_THERE: {
    summary: 'No agent listens on the host.',
    remedy: 'On the host: `systemctl status hyperkube-agent`, and `journalctl -u hyperkube-agent`.',
  },
  AGENT_GONE: {
    summary: 'The agent of a host hung up in the middle of a conversation.',
    meaning: 'It was restarted, or the host was. What it was doing goes on where it can.',
    remedy: 'Run the same command again; on the host `journalctl -u hyperkube-agent` says what happened.',
  },
  AGENT_INTERRUPTED: {
    summary: 'The agent of a host was stopped in the middle of its work.',
    meaning: 'Each single thing is done whole or not at all, so the host is between two of them.',
    remedy: 'Run the same command again: it goes on where this one ended.',
  },
  AGENT_STRANGE_ANSWER: {
    summary: 'The agent of a host answered something that was not asked.',
    meaning: 'It is of a release that this one does not understand.',
    remedy: '`hyperkube version` here and on the host; bring both to neighbouring releases.',
  },
  CLAIM_NO_MAJORITY: {
    summary: 'Too few control planes answer to grant the claim on the cluster.',
    meaning: 'Without more than half of them two operators could work at once. Nothing was done.',
    remedy: 'Bring control planes back until more than half of them answer.',
  },
  VERIFY_FAILED: {
    summary: 'Everything was set up, but the cluster does not do what it is for.',
    meaning:
      'A pod that does nothing was put on every node, and looked for from other nodes; so was the API by its service address. One of that did not work.',
    remedy:
      'The message says where. Of pods: `kubectl -n kube-system describe pod -l hyperkube.dev/trial`. Between nodes it is mostly a firewall that drops UDP of the network, or `flanneld` and `kube-proxy`, whose logs say why.',
    symptoms: ['step-failed'],
  },
  RESET_CONTROL_PLANE: {
    summary: 'Only a part of the control plane was to be reset.',
    meaning: 'The rest would go on counting on it, and etcd could lose its majority.',
    remedy:
      'Reset the whole cluster by leaving --limit out. If the rest is lost anyway, `--ignore RESET_CONTROL_PLANE`.',
  },
  GATE_NOT_PASSED: {
    summary: 'Something that must be so before the next step did not become so.',
    meaning:
      'The step before is done, and nothing after it was begun: the cluster is as safe as before, but not finished.',
    remedy: 'Mend what the message names, then run the same command again: it goes on from there.',
    symptoms: ['step-failed'],
  },
  HOST_ARCH: {
    summary: 'The host’s processor is of a kind that hyperkube has no programs for.',
    remedy: 'Take a host with x86_64 or aarch64.',
  },
  RELEASE_NOT_THERE: {
    summary: 'The executable of hyperkube that hosts of this kind get is not there.',
    meaning:
      'A host like this machine gets the very program that runs; for others their file must lie beside it.',
    remedy: 'Put the file of the same release beside it; from a checkout, `npm run executable -- all`.',
  },
  RUN_LOG_NOT_WRITTEN: {
    summary: 'The log of the run could not be written.',
    meaning:
      'The run goes on without. Logs are in `hyperkube/runs/CLUSTER` below `XDG_STATE_HOME` or `~/.local/state`, on Windows below `%LOCALAPPDATA%`: one file for each run, all that happened in it line by line, for its owner alone.',
    remedy: 'Make that directory yours and writable, or let `XDG_STATE_HOME` name another.',
  },
  PKI_REQUEST_NOT_PLANNED: {
    summary: 'A host asks for a certificate that its plan does not have.',
    meaning: 'Nothing was signed. A host that is no longer yours may try this.',
    remedy: 'Look at the host before you trust it again: `journalctl -u hyperkube-agent`.',
  },
}
