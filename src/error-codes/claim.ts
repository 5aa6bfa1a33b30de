import type { Entries } from './entry.ts'

export const claim: Entries = {
  CLAIM_HELD: {
    summary: 'Somebody else is changing the cluster now.',
    meaning: 'Two at once would undo each other’s work. Nothing was done.',
    remedy:
      'Wait until they are done. A minute after they are gone the claim is free by itself; `--force-unlock` takes it at once, and whatever they still send is refused.',
    symptoms: ['two-at-once'],
  },
  CLAIM_LOST: {
    summary: 'The claim on the cluster went to somebody else meanwhile.',
    meaning: 'They took it by force, or this side was not heard of for a minute.',
    remedy: 'Ask them, look what is different now (`hyperkube plan`), then begin again.',
    symptoms: ['two-at-once'],
  },
  AGENT_NO_SUCH_RUN: {
    summary: 'The agent of the host knows nothing of the run that was asked about.',
    meaning: 'It never reached the host, or it is so long ago that it was forgotten.',
    remedy: 'Run the command again; what is done already is not done twice.',
  },
  AGENT_LINE_TOO_LONG: {
    summary: 'A message to the agent of a host is longer than any of ours.',
    meaning: 'Mostly something that is not hyperkube speaks to the agent.',
    remedy: '`hyperkube version` on both sides; if they are neighbours, report it.',
  },
}
