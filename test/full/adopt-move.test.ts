import { describeMoves } from '../support/adoption/move-suite.ts'
import { kubeadmContender } from '../support/adoption/kubeadm-contender.ts'

describeMoves(kubeadmContender, process.env['ADOPT_SHAPE'] ?? '1+1', 'adopt-move')
