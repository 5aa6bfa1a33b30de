import { describeMoves } from '../support/adoption/move-suite.ts'
import { rke1Contender } from '../support/adoption/rke1-contender.ts'

describeMoves(rke1Contender, process.env['ADOPT_SHAPE'] ?? '1+1', 'adopt-rke')
