"""The parts of the Explore page, top to bottom: picture, field of view, method, candidates, result, overlay, …"""
