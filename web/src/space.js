export class SpaceView { constructor() {} repaint() {} picture() {} }
